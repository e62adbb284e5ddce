"""Whether ranks transfer or wait for each other; needs more than one rank, so it is no ``ANALYSIS``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.analysis.results import Results
    from stepscope.trace.intervals import Ints


@dataclass(frozen=True, slots=True)
class Waiting:
    """Waiting inside the collectives that all ranks of their group recorded.

    A collective ends for all ranks together, so the rank that spent least time in it came last, and
    what the others spent longer was waiting for it.

    Attributes:
        matched: Collectives compared.
        total_ns: Time in them, summed over ranks.
        waiting_ns: What of it was waiting, summed over ranks.
        late_rank: The rank that came last in the collectives with most of the waiting.
        late_share: Share of the waiting that it caused, 0 to 1.
    """

    matched: int
    total_ns: int
    waiting_ns: int
    late_rank: int
    late_share: float

    @property
    def share(self) -> float:
        """Waiting over time in collectives."""
        return self.waiting_ns / self.total_ns if self.total_ns else 0.0

    @property
    def is_most(self) -> bool:
        """Whether waiting is more than half of the time in collectives."""
        return 2 * self.waiting_ns > self.total_ns


def waiting_between(ranks: Sequence[Results]) -> Waiting | None:
    """Compares collectives call by call.

    ``None`` where it cannot be known: a single rank, ranks missing, ranks without a number, or call
    counts that differ between ranks.
    """
    numbers = [one.facts.rank for one in ranks]
    worlds = {one.facts.world_size for one in ranks}
    if len(ranks) < 2 or None in numbers or worlds not in ({len(ranks)}, {None}):
        return None
    total, waited, matched = 0, 0, 0
    caused = np.zeros(len(ranks), dtype=np.int64)
    for name in sorted({name for one in ranks for name in one.communication.call_names}):
        spent = _durations(ranks, name)
        if spent is None:
            continue
        wait = (spent - spent.min(axis=0)).sum(axis=0)
        np.add.at(caused, spent.argmin(axis=0), wait)
        total, waited, matched = (
            total + int(spent.sum()),
            waited + int(wait.sum()),
            matched + spent.shape[1],
        )
    if not matched:
        return None
    late = int(caused.argmax())
    return Waiting(
        matched, total, waited, numbers[late] or 0, int(caused[late]) / waited if waited else 0.0
    )


def _durations(ranks: Sequence[Results], name: str) -> Ints | None:
    """Duration of each call on each rank, shape ``(ranks, calls)``."""
    rows = []
    for one in ranks:
        calls = one.communication.calls[[n == name for n in one.communication.call_names]]
        rows.append(calls[:, 1] - calls[:, 0])
    return np.array(rows) if len({len(row) for row in rows}) == 1 else None
