"""A part of a trace: only some of its steps, with every table cut to their time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec.structs import replace

from stepscope.errors import OptionError

if TYPE_CHECKING:
    import numpy.typing as npt

    from stepscope.trace.model import Trace


def select_steps(trace: Trace, first: int | None, last: int | None) -> Trace:
    """The trace cut to the steps whose number is at least ``first`` and below ``last``.

    Args:
        trace: A rank.
        first, last: Step numbers; None leaves that side open.

    Raises:
        OptionError: No step has such a number.
    """
    number = pl.col("number")
    wanted = trace.steps
    if first is not None:
        wanted = wanted.filter(number >= first)
    if last is not None:
        wanted = wanted.filter(number < last)
    if not len(wanted):
        known = trace.steps["number"]
        there = (
            f"steps {known.min()!r} to {known.max()!r} are there"
            if len(known)
            else "no steps were found"
        )
        raise OptionError(f"no step has a number from {first} up to {last}; {there}")
    return _cut(trace, wanted)


def _cut(trace: Trace, steps: pl.DataFrame) -> Trace:
    start, end = int(steps.item(0, "start_ns")), int(steps.item(-1, "end_ns"))
    inside = (pl.col("end_ns") > start) & (pl.col("start_ns") < end)
    keep = trace.host.select(inside).to_series().to_numpy()
    moved = np.where(keep, np.cumsum(keep) - 1, -1)
    device = trace.device.filter(inside).with_columns(
        pl.col("start_ns").clip(lower_bound=start),
        pl.col("end_ns").clip(upper_bound=end),
        _moved(trace.device.filter(inside)["launch"], moved),
        _moved(trace.device.filter(inside)["operator"], moved),
    )
    host = trace.host.filter(pl.Series(keep))
    memory = trace.memory.filter((pl.col("time_ns") >= start) & (pl.col("time_ns") < end))
    windows = tuple(
        replace(w, start_ns=max(w.start_ns, start), end_ns=min(w.end_ns, end))
        for w in trace.windows
        if w.end_ns > start and w.start_ns < end
    )
    return replace(
        trace,
        host=host.with_columns(_moved(host["parent"], moved)),
        device=device,
        memory=memory,
        steps=steps,
        windows=windows,
    )


def _moved(rows: pl.Series, moved: npt.NDArray[np.int64]) -> pl.Series:
    """Row numbers of the uncut table as those of the cut one; null where the row is gone."""
    old = rows.fill_null(-1).to_numpy()
    new = np.where(old >= 0, moved[old], -1)
    return pl.Series(rows.name, new, dtype=pl.Int64).replace(-1, None)
