"""What a rule is, and what it may look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.predict import Gains
from stepscope.schema.report import Evidence
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.analysis.results import Results
    from stepscope.job.recorded_rank import RecordedRank
    from stepscope.job.waiting import Waiting
    from stepscope.schema.loader import LoaderReport
    from stepscope.schema.report import Finding, Gain, LineRow, Regime, Severity, SourceLines


LEAST_SAMPLES = 5
"""A line of code is named from so many samples on."""

NOT_PREDICTED = Gains(error_frac=0.0, withheld="")
"""Where nothing was replayed."""


class Context(Struct, frozen=True, eq=False):
    """One rank's results and what only several ranks together can tell.

    Attributes:
        results: All analyses of the rank.
        ranks: Number of ranks that were analysed.
        waiting: Waiting of ranks for each other; ``None`` where it cannot be known.
        gains: What changes would gain on the rank.
        loader: The loader that feeds training, seen from inside; ``None`` where no recorder saw it.
        lines: Lines of code that hold the rank's time; ``None`` where nobody sampled them.
        run: What the recorder knows of the rank's run; ``None`` for a trace of somebody else.
    """

    results: Results
    ranks: int = 1
    waiting: Waiting | None = None
    gains: Gains = NOT_PREDICTED
    loader: LoaderReport | None = None
    lines: SourceLines | None = None
    run: RecordedRank | None = None

    @property
    def has_steps(self) -> bool:
        """Whether steps could be told apart, so that figures are per step."""
        return self.results.spread.are_steps

    @property
    def where(self) -> str:
        """The denominator in words."""
        return "of the mean steady step" if self.has_steps else "of the recorded window"

    @property
    def each(self) -> str:
        """The same behind a quantity."""
        return "per steady step" if self.has_steps else "in the recorded window"

    @property
    def steady_ns(self) -> int:
        """Length of all steady steps (windows) together."""
        partition = self.results.partition
        return int(partition.ns[partition.is_steady].sum())

    @property
    def steady_count(self) -> int:
        """Number of steady steps (windows)."""
        return int(self.results.partition.is_steady.sum())

    def share(self, part: str) -> float | None:
        """Share of a part; ``None`` when this trace cannot have it or no steady step remains."""
        partition = self.results.partition
        return partition.share(part) if part in partition.parts else None

    @property
    def pauses(self) -> float | None:
        """Share of pauses between queued kernels; ``None`` without a device timeline."""
        unknown = self.share("unknown")
        paused = self.share_of(self.results.launches.pause_ns)
        return None if unknown is None or paused is None else min(unknown, paused)

    @property
    def unexplained(self) -> float | None:
        """Share of idle time of which nothing is known; ``None`` without a device timeline."""
        unknown, paused = self.share("unknown"), self.pauses
        return None if unknown is None or paused is None else unknown - paused

    @property
    def loses_launches(self) -> bool:
        """Whether half of the launches or more have no work in the trace, so that gaps may hold work."""
        return self.results.partition.has_device and self.results.launches.are_mostly_lost

    def line_in(self, part: str) -> LineRow | None:
        """The line of code that holds most of a part's time, when it was sampled often enough to be named."""
        rows = self.lines.rows if self.lines is not None else ()
        inside = [row for row in rows if row.part == part and row.samples >= LEAST_SAMPLES]
        return max(inside, key=lambda row: row.self_ms, default=None)

    def share_of(self, ns: int) -> float | None:
        """Share of a time inside the steady steps; ``None`` when none remains."""
        whole = self.steady_ns
        return ns / whole if whole else None

    def ms_each(self, ns: float) -> float | None:
        """A time over all steady steps as milliseconds for each."""
        return ns_to_ms(ns / self.steady_count) if self.steady_count else None

    def part_ms(self, part: str) -> float | None:
        """Time of a part in each steady step; ``None`` when none remains."""
        return self.ms_each(self.results.partition.steady_ns(part))

    def part_evidence(self, part: str, name: str) -> tuple[Evidence, ...]:
        """Share and time of a part, each with its denominator."""
        return (
            Evidence(name=f"{name}, share {self.where}", value=self.share(part), unit="frac"),
            Evidence(name=f"{name} {self.each}", value=self.part_ms(part), unit="ms"),
        )


class Rule(Struct, frozen=True):
    """A rule: looks at one rank and finds something to change, or nothing.

    Attributes:
        code: Stable, never reused.
        regime: The regime that its finding belongs to.
        title: One line.
        find: Returns the finding, or ``None``; data that is missing gives ``None``.
        doc: The module's docstring, with fixed headings, from which its page is made.
        explained_by: Codes of rules whose finding makes this one redundant.
        yields_to: Codes of rules whose finding makes it redundant when by the replay it saves as much.
        needs_usable: Whether it keeps silent on a trace that cannot carry a verdict.
        gain: What its cure would gain; ``None`` for a rule that predicts nothing.
    """

    code: str
    regime: Regime
    title: str
    find: Callable[[Context], Finding | None]
    doc: str
    explained_by: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()
    needs_usable: bool = True
    gain: Callable[[Context], Gain | None] | None = None


def severity(share: float) -> Severity:
    """How much of the step a finding holds: high from 40 %, medium from 20 %, else low."""
    if share >= 0.4:
        return "high"
    return "medium" if share >= 0.2 else "low"
