"""Each collective split into waiting for the last rank and transfer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

if TYPE_CHECKING:
    from stepscope.job.clocks import Clocks
    from stepscope.trace.intervals import Ints


CERTAIN = 2
"""Arrivals further apart than this many times the uncertainty of the clocks are told from noise."""


class Waits(Struct, frozen=True, eq=False):
    """Waiting in the matched collectives.

    Attributes:
        calls: One row a call: ``place``, ``row``, ``match``, ``group_id``, ``kind``, ``bytes``, ``step``,
            ``is_startup``, ``arrival_ns`` and ``end_ns`` on the common clock, ``since_ns`` likewise,
            ``begin_ns`` (arrival, or the last arrival at an earlier collective of the group where that
            is later, so that time in which a rank waits for several at once counts once), ``wait_ns``
            (for the last rank) and ``transfer_ns``, which sum to the time from ``begin_ns`` to the end.
        events: One row a collective: ``match``, ``group_id``, ``kind``, ``step``, ``is_startup``,
            ``last`` (position of the rank that came last), ``arrival_ns`` (its arrival), ``margin_ns``
            (how much later than the one before it), ``late_ns`` (how much later than the median of the
            others), ``spread_ns`` (than the first), ``wait_ns``, ``spent_ns`` and ``exposed_ns`` (summed
            over ranks), ``transfer_ns`` (of the median rank), ``bytes`` (of one rank), ``size``,
            ``is_late`` (whether the spread is beyond the uncertainty of the clocks), ``end_ns``.
    """

    calls: pl.DataFrame
    events: pl.DataFrame


def split(calls: pl.DataFrame, clocks: Clocks) -> Waits:
    """Splits every matched call; calls whose clocks could not be tied together are left out.

    Args:
        calls: Matched calls.
        clocks: The alignment.
    """
    shift = pl.Series(clocks.offset_ns)
    island = pl.Series(clocks.island)
    place = calls["place"]
    aligned = calls.with_columns(
        arrival_ns=calls["start_ns"] - shift.gather(place),
        end_ns=calls["end_ns"] - shift.gather(place),
        since_ns=calls["since_ns"] - shift.gather(place),
        island=island.gather(place),
    ).filter(pl.col("island") >= 0)
    last = aligned.group_by("match").agg(
        pl.max("arrival_ns").alias("last_ns"), pl.first("group_id")
    )
    earlier = last.sort("last_ns", "match").select(
        "match", "last_ns", earlier_ns=pl.col("last_ns").cum_max().shift(1).over("group_id")
    )
    ended = pl.col("end_ns")
    counted = (
        aligned.join(earlier, on="match", how="left", maintain_order="left")
        .with_columns(begin_ns=pl.max_horizontal("arrival_ns", "earlier_ns"))
        .with_columns(
            wait_ns=(pl.min_horizontal("last_ns", ended) - pl.col("begin_ns")).clip(0),
            transfer_ns=(ended - pl.max_horizontal("begin_ns", "last_ns")).clip(0),
        )
    )
    return Waits(counted, _events(counted, CERTAIN * (clocks.uncertainty_ns or 0)))


def _events(calls: pl.DataFrame, certain_ns: int) -> pl.DataFrame:
    """One row a collective, in order."""
    arrival, begin = pl.col("arrival_ns"), pl.col("begin_ns")
    others = begin.slice(0, pl.len() - 1)
    return (
        calls.sort("match", "arrival_ns", "place")
        .group_by("match", maintain_order=True)
        .agg(
            pl.first("group_id", "kind", "step", "is_startup", "bytes"),
            pl.last("place").alias("last"),
            pl.last("arrival_ns"),
            (arrival.last() - others.last()).clip(0).alias("margin_ns"),
            (arrival.last() - others).median().clip(0).cast(pl.Int64).alias("late_ns"),
            (arrival.last() - others.min()).clip(0).alias("spread_ns"),
            pl.sum("wait_ns"),
            (pl.sum("transfer_ns") + pl.sum("wait_ns")).alias("spent_ns"),
            pl.median("transfer_ns").cast(pl.Int64),
            pl.sum("exposed_ns"),
            pl.max("end_ns"),
            pl.len().cast(pl.Int64).alias("size"),
        )
        .with_columns(is_late=pl.col("spread_ns") > certain_ns)
        .sort("match")
    )


def by_step(waits: Waits, places: int, steps: list[int]) -> Ints:
    """Waiting of each rank in each step, shape ``(places, len(steps))``, ns."""
    out = np.zeros((places, len(steps)), dtype=np.int64)
    column = {number: at for at, number in enumerate(steps)}
    sums = waits.calls.drop_nulls("step").group_by("place", "step").agg(pl.sum("wait_ns"))
    for place, step, wait in sums.iter_rows():
        if step in column:
            out[place, column[step]] = wait
    return out
