"""One clock for all ranks, from the ends of collectives that no rank can leave before the last has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.trace.collectives import ENDS_TOGETHER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.job.digest import RankDigest
    from stepscope.trace.intervals import Bools, Floats, Ints

SAME_CLOCK_NS = 1_000_000
"""Ranks of one host whose ends agree within this share the host's clock."""

LEAST_UNCERTAIN_NS = 1_000
"""Traces carry no times finer than this across processes."""


class Clocks(Struct, frozen=True, eq=False):
    """What to subtract from each rank's times to get the times of one clock.

    Attributes:
        offset_ns: By position of the rank, shape ``(ranks,)``; meaningful only among ranks of one island.
        island: By position, the number of the set of ranks whose clocks could be tied together, -1 for a
            rank that takes part in no matched collective; shape ``(ranks,)``.
        uncertainty_ns: Ends of one collective lie this far apart, or less, on the aligned clock in nine
            collectives of ten; ``None`` where there is nothing to align by.
        ends: Collectives that the alignment rests on.
    """

    offset_ns: Ints
    island: Ints
    uncertainty_ns: int | None
    ends: int


def align(calls: pl.DataFrame, ranks: Sequence[RankDigest]) -> Clocks:
    """Aligns clocks group by group, beginning with the largest.

    A collective ends on all ranks within microseconds, whatever their clocks say, so the median
    difference of the ends is the difference of the clocks. Ranks of one host share a clock; theirs is
    aligned once, which steadies it.

    Args:
        calls: Matched calls.
        ranks: The ranks by position.
    """
    together = calls.filter(pl.col("kind").is_in(list(ENDS_TOGETHER)))
    base = _first_ends(together, len(ranks))
    offset = np.zeros(len(ranks), dtype=np.float64)
    island = np.full(len(ranks), -1, dtype=np.int64)
    ends = [_ends(frame, base) for _, frame in together.group_by("group_id", maintain_order=True)]
    ends.sort(key=lambda pair: (-len(pair[0]), -pair[1].shape[1], pair[0].tolist()))
    left = list(ends)
    while left:
        known = [one for one in left if (island[one[0]] >= 0).any()]
        places, times = known[0] if known else left[0]
        left = [one for one in left if one[0] is not places]
        tied: Bools = island[places] >= 0
        if not tied.any():
            island[places[0]] = island.max() + 1
            tied[0] = True
        shared = np.median(times[tied] - offset[places[tied], None], axis=0)
        new = places[~tied]
        offset[new] = np.median(times[~tied] - shared, axis=1)
        island[new] = island[places[tied][0]]
    shift = _by_host(np.rint(offset).astype(np.int64) + base, island, ranks)
    spreads = [_spread(places, times, shift - base) for places, times in ends]
    known_spread = np.concatenate(spreads) if spreads else np.zeros(0)
    uncertain = max(int(np.percentile(known_spread, 90)), LEAST_UNCERTAIN_NS) if spreads else None
    return Clocks(shift, island, uncertain, len(known_spread))


def _first_ends(together: pl.DataFrame, ranks: int) -> Ints:
    """The first end on each rank; times that count from it are small enough for exact floats."""
    base = np.zeros(ranks, dtype=np.int64)
    first = together.group_by("place").agg(pl.min("end_ns"))
    base[first["place"].to_numpy()] = first["end_ns"].to_numpy()
    return base


def _ends(frame: pl.DataFrame, base: Ints) -> tuple[Ints, Floats]:
    """Positions of a group's ranks, and the end of each collective on each, shape ``(ranks, matches)``."""
    rows = frame.sort("place", "match")
    places = rows["place"].unique(maintain_order=True).to_numpy()
    times = rows["end_ns"].to_numpy().reshape(len(places), -1)
    return places, (times - base[places, None]).astype(np.float64)


def _spread(places: Ints, times: Floats, offset: Ints) -> Floats:
    aligned = times - offset[places, None]
    spread: Floats = aligned.max(axis=0) - aligned.min(axis=0)
    return spread


def _by_host(offset: Ints, island: Ints, ranks: Sequence[RankDigest]) -> Ints:
    """One offset for the ranks of a host whose times count from 1970, unless their ends disagree.

    Ranks whose host is not recorded count as of one host. The first rank of an island has offset 0.
    """
    out = offset.copy()
    hosts: dict[tuple[str, int], list[int]] = {}
    for place, one in enumerate(ranks):
        if one.clock == "epoch" and island[place] >= 0:
            hosts.setdefault((one.host_name or "", int(island[place])), []).append(place)
    for places in hosts.values():
        first = int(offset[places[0]])
        middle = first + int(np.median(offset[places] - first))
        if np.abs(offset[places] - middle).max() <= SAME_CLOCK_NS:
            out[places] = middle
    for number in range(int(island.max(initial=-1)) + 1):
        inside = island == number
        out[inside] -= out[np.flatnonzero(inside)[0]]
    return out
