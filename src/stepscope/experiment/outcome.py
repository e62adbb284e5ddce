"""What an experiment found out, as it is kept in the run folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from stepscope.report.compare_stats import (  # noqa: TC001  (the JSON decoder resolves it)
    Statistic,
)

if TYPE_CHECKING:
    from pathlib import Path

RESULT_NAME = "tune.json"

End = Literal["certain", "no difference", "budget", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One change, tried.

    Attributes:
        name: The change in words.
        lines: What to write into the script, or how to call it; ``""`` for nothing.
        rounds: Pairs of trials, one with and one without the change.
        gain: Step time without over with the change; ``None`` when it could not be tried.
        by: Of medians, or of means where steps come in bunches.
        low, high: Its 95 % interval; ``None`` below two rounds.
        predicted_low, predicted_high: What was predicted from the first trial; ``None`` for nothing.
        end: Why trials ended: the gain is certain, certainly no gain of 2 %, the budget was spent, or
            the script failed with the change.
        losses_alike: Whether losses go the same way; ``None`` when no loss was seen.
        note: What else a reader must know, as a sentence; ``""`` for nothing.
    """

    name: str
    lines: str
    rounds: int
    gain: float | None
    low: float | None
    high: float | None
    by: Statistic = "medians"
    predicted_low: float | None = None
    predicted_high: float | None = None
    end: End
    losses_alike: bool | None = None
    note: str = ""

    @property
    def is_held(self) -> bool | None:
        """Whether the measured gain lies in the predicted range; ``None`` without one of the two."""
        if self.gain is None or self.predicted_low is None or self.predicted_high is None:
            return None
        return self.predicted_low <= self.gain <= self.predicted_high

    @property
    def is_gain(self) -> bool:
        """Whether the change certainly makes steps shorter."""
        return self.end == "certain" and self.gain is not None and self.gain > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """All changes that were tried on a script.

    Attributes:
        command: The script and its arguments.
        base_step_ms: Step without any change, the median of all trials.
        seconds: How long it took.
        changes: Largest gain first.
    """

    command: tuple[str, ...]
    base_step_ms: float
    seconds: float
    changes: tuple[Measured, ...]

    def save(self, folder: Path) -> Path:
        """Write it into a run folder; returns the file."""
        path = folder / RESULT_NAME
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n")
        return path
