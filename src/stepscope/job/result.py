"""What several ranks together tell, in one frozen result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.job.blame import Blame, blame
from stepscope.job.clocks import Clocks, align
from stepscope.job.grouping import CallGroup, all_calls
from stepscope.job.matching import Matched, match
from stepscope.job.straggler import Straggler, straggler_of
from stepscope.job.waits import Waits, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.job.digest import RankDigest
    from stepscope.trace.intervals import Bools


class Job(Struct, frozen=True, eq=False):
    """Ranks compared.

    Attributes:
        numbers: The ranks' numbers by position.
        groups: Process groups with recorded collectives.
        matched: Which calls are the same collective.
        clocks: The alignment.
        waits: Waiting and transfer.
        steps: Numbers of the steps that steady figures rest on, over all ranks; empty without steps.
        steady: Which rows of ``waits.events`` steady figures rest on, shape ``(events,)``.
        step_ns: Length of those steps together, without steps of the windows less the first calls in them,
            which are start-up; the median over ranks.
        blame: Late arrivals; ``None`` where no collective matches.
        straggler: The rank that caused most of the waiting; ``None`` where nobody was late.
    """

    numbers: tuple[int, ...]
    groups: tuple[CallGroup, ...]
    matched: Matched
    clocks: Clocks
    waits: Waits
    steps: tuple[int, ...]
    steady: Bools
    step_ns: int
    blame: Blame | None
    straggler: Straggler | None

    @property
    def steady_events(self) -> pl.DataFrame:
        """The collectives that steady figures rest on."""
        return self.waits.events.filter(pl.Series(self.steady))

    @property
    def loss_frac(self) -> float:
        """Share of ``step_ns`` that the job loses by the straggler, 0 to 1."""
        if self.straggler is None or not self.step_ns:
            return 0.0
        return min(self.straggler.loss_ns / self.step_ns, 1.0)


def compare(ranks: Sequence[RankDigest]) -> Job | None:
    """Compares ranks; ``None`` for one rank, for ranks without distinct numbers and without collectives."""
    numbers = [one.rank for one in ranks]
    known = [number for number in numbers if number is not None]
    alike = any(one.rank_source == "none" for one in ranks)
    if len(ranks) < 2 or len(set(known)) < len(ranks) or alike:
        return None
    everything = all_calls(ranks)
    if not len(everything.calls):
        return None
    matched = match(everything)
    clocks = align(matched.calls, ranks)
    waits = split(matched.calls, clocks)
    steps = _steady_steps(ranks)
    steady = _steady(waits.events, steps)
    if not steady.any():
        # The steps hold none of the collectives: compare what there is, without steps.
        steps, steady = (), _steady(waits.events, ())
    found = blame(ranks, waits, steady) if len(waits.events) else None
    return Job(
        numbers=tuple(known),
        groups=everything.groups,
        matched=matched,
        clocks=clocks,
        waits=waits,
        steps=steps,
        steady=steady,
        step_ns=int(np.median([_steady_ns(one) for one in ranks])),
        blame=found,
        straggler=straggler_of(ranks, found, steps, clocks.uncertainty_ns or 0)
        if found is not None
        else None,
    )


def _steady_steps(ranks: Sequence[RankDigest]) -> tuple[int, ...]:
    """Steps that are steady on every rank that has them."""
    steady: set[int] = set()
    other: set[int] = set()
    for one in ranks:
        spread = one.results.spread
        if spread.are_steps:
            steady |= set(spread.numbers[spread.is_steady].tolist())
            other |= set(spread.numbers[~spread.is_steady].tolist())
    return tuple(sorted(steady - other))


def _steady(events: pl.DataFrame, steps: tuple[int, ...]) -> Bools:
    if not steps:
        return np.asarray(~events["is_startup"].to_numpy(), dtype=np.bool_)
    inside = events["step"].is_in(list(steps)).fill_null(value=False)
    return np.asarray(inside.to_numpy(), dtype=np.bool_)


def _steady_ns(one: RankDigest) -> int:
    spread = one.results.spread
    chosen = spread.is_steady if spread.is_steady.any() else np.ones_like(spread.is_steady)
    lasted = int(spread.durations_ns[chosen].sum())
    return lasted if spread.are_steps else max(lasted - one.results.startup.ns, 1)
