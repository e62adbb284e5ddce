"""Whether ranks transfer or wait for each other, and for whom: what the rules rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.units import NS_PER_MS

if TYPE_CHECKING:
    import polars as pl

    from stepscope.job.result import Job


class Longest(Struct, frozen=True):
    """The collective that transfers longest.

    Attributes:
        kind: For instance ``all-gather``.
        transfer_ms: From the last arrival to the end.
        wait_ms: How long the first rank had waited for the last one.
        share: Its transfer over the time of a rank in matched collectives, 0 to 1.
    """

    kind: str
    transfer_ms: float
    wait_ms: float
    share: float


class Waiting(Struct, frozen=True):
    """Waiting inside the collectives that all ranks of their group recorded.

    A collective ends for all ranks together, so what a rank spends in it before the last one has come is
    waiting.

    Attributes:
        matched: Collectives compared.
        total_ns: Time in them, summed over ranks.
        waiting_ns: What of it was waiting, summed over ranks.
        late_rank: The rank that caused most of the waiting.
        late_share: Share of the waiting that it caused, 0 to 1.
        is_named: Whether the data carry that it is this rank.
        loss_frac: Share of the steady steps that the job loses by it.
        loss_ms: The same per steady step (in the window without steps).
        late_steps, all_steps: Steady steps in which it was to blame, of how many; 0 without steps.
        times: Collectives that it made wait.
        pattern: ``constant``, ``drifting``, ``irregular``, ``once`` or ``unknown``.
        before: What it did longer than the others before it came, by part, in ms per steady step.
        cause: The part that explains most of it; ``None`` where none does.
        node: Its host, where several ranks of this host are late and no others.
        comparison: How its work compares with that of the others, as a sentence; ``""`` where that cannot
            be told.
        uncertainty_ms: How far apart the aligned clocks may be.
        first_ms: How much of its lateness is first calls, in all.
        longest: The collective that transfers longest; ``None`` without any.
    """

    matched: int
    total_ns: int
    waiting_ns: int
    late_rank: int
    late_share: float
    is_named: bool = True
    loss_frac: float = 0.0
    loss_ms: float = 0.0
    late_steps: int = 0
    all_steps: int = 0
    times: int = 0
    pattern: str = "unknown"
    before: tuple[tuple[str, float], ...] = ()
    cause: str | None = None
    node: str | None = None
    comparison: str = ""
    uncertainty_ms: float | None = None
    first_ms: float = 0.0
    longest: Longest | None = None

    @property
    def share(self) -> float:
        """Waiting over time in collectives."""
        return self.waiting_ns / self.total_ns if self.total_ns else 0.0

    @property
    def is_most(self) -> bool:
        """Whether waiting is more than half of the time in collectives."""
        return 2 * self.waiting_ns > self.total_ns


def waiting_of(job: Job | None, comparison: str = "") -> Waiting | None:
    """What the rules need of a comparison of ranks; ``None`` where ranks cannot be compared.

    Args:
        job: The comparison.
        comparison: The sentence about the late rank's work.
    """
    if job is None or not len(job.waits.events) or job.matched.incomplete:
        return None
    events, late = job.steady_events, job.straggler
    total, waited = int(events["spent_ns"].sum()), int(events["wait_ns"].sum())
    uncertain = job.clocks.uncertainty_ns
    uncertainty_ms = None if uncertain is None else uncertain / NS_PER_MS
    if late is None:
        first = job.numbers[0]
        return Waiting(
            len(events),
            total,
            waited,
            first,
            0.0,
            is_named=False,
            uncertainty_ms=uncertainty_ms,
            longest=_longest(events, len(job.numbers)),
        )
    each = NS_PER_MS * max(late.all_steps, 1)
    return Waiting(
        len(events),
        total,
        waited,
        job.numbers[late.place],
        late.share,
        is_named=late.is_named,
        loss_frac=job.loss_frac,
        loss_ms=late.loss_ns / each,
        late_steps=late.steps,
        all_steps=late.all_steps,
        times=late.times,
        pattern=late.pattern,
        before=tuple((part, ns / each) for part, ns in late.excess_ns),
        cause=late.cause,
        node=late.node,
        comparison=comparison,
        uncertainty_ms=uncertainty_ms,
        first_ms=late.first_ns / NS_PER_MS,
        longest=_longest(events, len(job.numbers)),
    )


def _longest(events: pl.DataFrame, ranks: int) -> Longest | None:
    if not len(events):
        return None
    first = events.sort("transfer_ns", descending=True).row(0, named=True)
    spent = int(events["spent_ns"].sum())
    return Longest(
        kind=str(first["kind"]),
        transfer_ms=first["transfer_ns"] / NS_PER_MS,
        wait_ms=first["spread_ns"] / NS_PER_MS,
        share=min(first["transfer_ns"] * ranks / spent, 1.0) if spent else 0.0,
    )
