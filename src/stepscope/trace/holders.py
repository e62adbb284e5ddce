"""Who asked for the memory that stays: blocks taken in one step that nobody has given back when the window ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.trace import ancestry, call_names

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace

NONE = -1

MOST = 5
"""So many are kept, the largest first."""


def holders_of(trace: Trace, events: pl.DataFrame, steps: Ints) -> pl.DataFrame | None:
    """Blocks that were taken in these steps and never given back, by who asked for them, largest first.

    Args:
        trace: The rank's tables.
        events: The allocator's events of one device, in order of time.
        steps: Bounds of steps, shape ``(n, 2)``; the last step of a window should not be among them, because
            its blocks may be given back in the next one.

    Returns:
        Columns ``operator`` (the outermost around the request, ``""`` outside of all; foreign text), ``bytes`` and
        ``blocks``, summed over the steps; ``None`` where addresses were not recorded.
    """
    if not len(steps) or events.get_column("address").null_count():
        return None
    stays = pl.col("address").is_last_distinct() & (pl.col("bytes") > 0)
    kept = events.filter(stays)
    times = kept.get_column("time_ns").to_numpy()
    step = np.searchsorted(steps[:, 0], times, side="right") - 1
    inside = (step >= 0) & (times < steps[np.maximum(step, 0), 1])
    kept = kept.filter(pl.Series(inside))
    around = _around(trace.host, kept)
    operators = call_names.operators(trace.host)
    return (
        kept.select(
            "bytes",
            operator=_names(trace.host, _outermost(trace.host, around, operators)),
        )
        .group_by("operator")
        .agg(pl.sum("bytes"), pl.len().alias("blocks"))
        .sort(["bytes", "operator"], descending=[True, False])
        .head(MOST)
    )


def _around(host: pl.DataFrame, kept: pl.DataFrame) -> Ints:
    """Row of the innermost host event of the same thread around each request, ``NONE`` outside of all."""
    out = np.full(len(kept), NONE, dtype=np.int64)
    start, end, pid, tid = (
        host.get_column(name).to_numpy() for name in ("start_ns", "end_ns", "pid", "tid")
    )
    parent = np.append(ancestry.parents(host), NONE)
    for key, own in kept.with_row_index("at").group_by("pid", "tid"):
        rows = np.flatnonzero((pid == key[0]) & (tid == key[1]))
        if not len(rows):
            continue
        times = own.get_column("time_ns").to_numpy()
        before = np.searchsorted(start[rows], times, side="right") - 1
        at = np.where(before >= 0, rows[np.maximum(before, 0)], NONE)
        while (over := (at != NONE) & (end[at] <= times)).any():
            at = np.where(over, parent[at], at)
        out[own.get_column("at").to_numpy()] = at
    return out


def _outermost(host: pl.DataFrame, at: Ints, wanted: Bools) -> Ints:
    """The farthest around each row that is wanted, itself included."""
    above = np.append(ancestry.nearest(host, wanted), NONE)
    is_wanted = np.append(wanted, values=False)
    found = np.where(is_wanted[at], at, above[at]).astype(np.int64)
    while (more := (found != NONE) & (above[found] != NONE)).any():
        found = np.where(more, above[found], found)
    return found


def _names(host: pl.DataFrame, rows: Ints) -> pl.Series:
    """Their names, ``""`` for none."""
    known = pl.Series(np.where(rows == NONE, 0, rows))
    if not len(host):
        return pl.Series([""] * len(rows), dtype=pl.String)
    names = host.get_column("name").gather(known).cast(pl.String)
    return pl.select(pl.when(pl.Series(rows != NONE)).then(names).otherwise(pl.lit(""))).to_series()
