"""Predicted gains beside what was measured after the change, kept in the run folder that predicted them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from stepscope.report.whole import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.report.compare import Comparison

GAINS_NAME = "gains.json"


class KeptGain(Struct, frozen=True, kw_only=True):
    """A finding whose cure was tried.

    Attributes:
        code, title: Of the finding.
        predicted_low, predicted_high: Speed-up ratios.
        basis: What the prediction rests on, as in the report.
        measured: Speed-up from this run to the other.
        by: Of the steps' medians or means.
        certain: Whether the difference between the two runs is real.
        held: Whether the measured gain lies in the predicted range.
        after: The run without the finding, as it was named.
        together: Findings that went with it, so that its own part cannot be told; empty when it went alone.
    """

    code: str
    title: str
    predicted_low: float
    predicted_high: float
    basis: str
    measured: float
    by: Literal["medians", "means"]
    certain: bool
    held: bool
    after: str
    together: tuple[str, ...] = ()


def gains_of(comparison: Comparison, after: str) -> tuple[KeptGain, ...]:
    """The predictions of the first run beside what the second shows.

    Args:
        comparison: Of the two.
        after: Name of the second.
    """
    ratio = comparison.ratio
    if ratio is None:
        return ()
    codes = tuple(one.code for one in comparison.predictions)
    return tuple(
        KeptGain(
            code=one.code,
            title=one.title,
            predicted_low=one.gain.low,
            predicted_high=one.gain.high,
            basis=one.gain.basis,
            measured=one.measured,
            by=ratio.by,
            certain=ratio.certain,
            held=one.held,
            after=after,
            together=tuple(code for code in codes if code != one.code),
        )
        for one in comparison.predictions
    )


def keep_gains(folder: Path, gains: tuple[KeptGain, ...]) -> Path:
    """Adds to what the run folder keeps; the same finding against the same run is replaced.

    Returns:
        The file.

    Raises:
        InputError: It cannot be written.
    """
    path = folder / GAINS_NAME
    new = {(one.code, one.after) for one in gains}
    rows = [one for one in load_gains(folder) if (one.code, one.after) not in new]
    write_whole(path, msgspec.json.format(msgspec.json.encode([*rows, *gains]), indent=1) + b"\n")
    return path


def load_gains(folder: Path) -> tuple[KeptGain, ...]:
    """What was kept; nothing where nothing was, or where it cannot be read and so has to be kept anew."""
    try:
        return msgspec.json.decode((folder / GAINS_NAME).read_bytes(), type=tuple[KeptGain, ...])
    except (FileNotFoundError, msgspec.MsgspecError):
        return ()
