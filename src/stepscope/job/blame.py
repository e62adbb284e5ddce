"""Who made the others wait, and by what: every late arrival followed back to the rank that began it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.job.digest import RankDigest
    from stepscope.job.waits import Waits
    from stepscope.trace.intervals import Bools, Ints

REMOTE_PARTS = ("communication", "other_rank")
"""Time in which a rank waits for others, or moves data for another group."""

MOST_REMOTE = 0.5
"""A rank that was late mostly because it waited in another group is not to blame."""


class Blame(Struct, frozen=True, eq=False):
    """Late arrivals, one entry each.

    Attributes:
        culprit: Position of the rank that began it, shape ``(n,)``.
        last: Position of the rank that came last, which is another where that one had waited itself.
        wait_ns: What the others waited, summed over ranks.
        loss_ns: How much later it came than the rank before it that the same culprit had not held up, less for
            groups that hold few ranks; 0 where the delay reaches a larger meeting and counts there.
        late_ns: How much later it came than the median of the others, likewise.
        step: Number of the step, -1 outside.
        excess_ns: What the last rank did longer than the median of the others since their last meeting,
            by part, shape ``(n, parts)``; negative where it did it shorter.
        parts: Names of the parts.
        spread_ns: How long the first rank waited for it.
        kind: Of the collective.
        group_id: Its process group.
        size: Ranks of that group.
        first_ns: How much more of first calls the last rank had since their last meeting than the median of
            the others, at most ``spread_ns``; ``None`` where host calls were not recorded.
    """

    culprit: Ints
    last: Ints
    wait_ns: Ints
    loss_ns: Ints
    late_ns: Ints
    step: Ints
    excess_ns: Ints
    parts: tuple[str, ...]
    spread_ns: Ints
    kind: tuple[str, ...]
    group_id: Ints
    size: Ints
    first_ns: Ints | None = None


def blame(ranks: Sequence[RankDigest], waits: Waits, steady: Bools) -> Blame:
    """Follows late arrivals back.

    Args:
        ranks: The ranks by position.
        waits: Waiting in matched collectives.
        steady: Which rows of ``waits.events`` count, shape ``(events,)``.
    """
    late = waits.events.filter(pl.Series(steady) & pl.col("is_late")).sort("end_ns", "match")
    parts = ranks[0].results.collectives.parts
    alike = all(one.results.collectives.parts == parts for one in ranks)
    calls = _Calls(waits.calls, ranks if alike else ())
    culprits: dict[int, int] = {}
    excess = np.zeros((len(late), len(parts)), dtype=np.int64)
    first = np.zeros(len(late), dtype=np.int64)
    share = (late["size"] - 1).to_numpy() / max(len(ranks) - 1, 1)
    loss = late["margin_ns"].to_numpy() * share
    at = {match: row for row, match in enumerate(late["match"])}
    remote = [parts.index(part) for part in REMOTE_PARTS if part in parts]
    columns = ("match", "last", "late_ns", "wait_ns")
    for row, (match, last, late_ns, wait_ns) in enumerate(late.select(columns).iter_rows()):
        culprits[match] = last
        first[row] = calls.first(match, last)
        if alike:
            excess[row] = calls.excess(match, last)
        if wait_ns and excess[row, remote].sum() > MOST_REMOTE * late_ns:
            before = calls.waited_in(match, last)
            culprits[match] = culprits.get(before, last) if before is not None else last
        margin, behind = calls.margin(match, culprits)
        if behind:
            loss[row] = margin * share[row]
            loss[[at[one] for one in behind]] = 0
    return Blame(
        culprit=np.array([culprits[match] for match in late["match"]], dtype=np.int64),
        last=late["last"].to_numpy(),
        wait_ns=late["wait_ns"].to_numpy(),
        loss_ns=loss.astype(np.int64),
        late_ns=(late["late_ns"].to_numpy() * share).astype(np.int64),
        step=late["step"].fill_null(-1).to_numpy(),
        excess_ns=excess,
        parts=parts,
        spread_ns=late["spread_ns"].to_numpy(),
        kind=tuple(late["kind"].to_list()),
        group_id=late["group_id"].to_numpy(),
        size=late["size"].to_numpy(),
        first_ns=np.minimum(first, late["spread_ns"].to_numpy()),
    )


class _Calls:
    """Calls by collective and by rank, as arrays."""

    def __init__(self, calls: pl.DataFrame, ranks: Sequence[RankDigest]) -> None:
        rows = calls.sort("match", "place")
        self._match = rows["match"].to_numpy()
        self._place = rows["place"].to_numpy()
        self._row = rows["row"].to_numpy()
        self._before = [one.results.collectives.before for one in ranks]
        self._since = rows["since_ns"].to_numpy()
        self._arrival = rows["arrival_ns"].to_numpy()
        self._group = rows["group_id"].to_numpy()
        self._begin = rows["begin_ns"].to_numpy()
        self._wait = rows["wait_ns"].to_numpy()
        self._first = rows["first_ns"].to_numpy()
        self._end = rows["end_ns"].to_numpy()
        order = np.lexsort((self._end, self._place))
        self._by_place = order
        self._starts = np.searchsorted(self._place[order], np.arange(int(self._place.max()) + 2))

    def _of(self, match: int) -> slice:
        first, after = np.searchsorted(self._match, [match, match + 1])
        return slice(int(first), int(after))

    def excess(self, match: int, last: int) -> Ints:
        """What the rank did longer than the median of the others before the collective, by part."""
        inside = self._of(match)
        places, rows = self._place[inside], self._row[inside]
        did = np.array([self._before[p][r] for p, r in zip(places, rows, strict=True)])
        own: Bools = places == last
        most: Ints = (did[own][0] - np.median(did[~own], axis=0)).astype(np.int64)
        return most

    def margin(self, match: int, culprits: dict[int, int]) -> tuple[int, list[int]]:
        """How much later the last rank came than the next that the same culprit had not held up before.

        Returns:
            The margin, and the earlier collectives in which ranks between the two were held up.
        """
        inside = self._of(match)
        begins, places = self._begin[inside], self._place[inside]
        order = np.argsort(-begins, kind="stable")
        behind: list[int] = []
        for at in order.tolist():
            place = int(places[at])
            if place == culprits[match]:
                continue
            before = self.waited_in(match, place)
            if before is None or culprits.get(before) != culprits[match]:
                return int(begins[order[0]] - begins[at]), behind
            behind.append(before)
        return 0, []

    def first(self, match: int, last: int) -> int:
        """How much more of first calls the rank had before the collective than the median of the others."""
        inside = self._of(match)
        own: Bools = self._place[inside] == last
        times = self._first[inside]
        return max(int(times[own][0] - np.median(times[~own])), 0)

    def waited_in(self, match: int, place: int) -> int | None:
        """The collective of another group in which the rank waited longest since its last meeting."""
        inside = self._of(match)
        at = inside.start + int(np.flatnonzero(self._place[inside] == place)[0])
        mine = self._by_place[self._starts[place] : self._starts[place + 1]]
        ends = self._end[mine]
        low, high = np.searchsorted(ends, [self._since[at], self._arrival[at]], side="right")
        found = mine[low:high]
        found = found[self._group[found] != self._group[at]]
        if not len(found) or not self._wait[found].max():
            return None
        return int(self._match[found[self._wait[found].argmax()]])
