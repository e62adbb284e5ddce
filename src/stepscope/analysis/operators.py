"""Operators by name and shapes of their inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import ancestry, call_names

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace


class Operator(Struct, frozen=True):
    """All calls of one operator with the same input shapes.

    Attributes:
        name: Foreign text, whole.
        input_dims: Shapes as JSON text; ``None`` when shapes were not recorded.
        count: Calls, those inside a call of the same operator included.
        total_ns: Host duration; calls inside a call of the same operator are not counted twice.
        self_ns: Host time that is not in operators inside it.
        share: ``self_ns`` over the self time of all operators; 0 when that is 0.
        device_ns: Summed duration of the device work launched inside it; ``None`` without device work.
    """

    name: str
    input_dims: str | None
    count: int
    total_ns: int
    self_ns: int
    share: float
    device_ns: int | None


def run(trace: Trace) -> tuple[Operator, ...]:
    """All operators of the file, longest self time first."""
    host = trace.host
    is_operator = call_names.operators(host)
    has_device = len(trace.device) > 0
    device_ns = _device_inside(trace, is_operator) if has_device else np.zeros(len(host), np.int64)
    calls = host.select(
        pl.col("name").cast(pl.String),
        "input_dims",
        "pid",
        "tid",
        "start_ns",
        "end_ns",
        own=pl.Series(_own_time(host, is_operator)),
        device=pl.Series(device_ns),
    ).filter(pl.Series(is_operator))
    # Events of a thread nest, so a call that starts before an earlier one of its name has ended lies in it.
    reached = pl.col("end_ns").cum_max().shift(1).over("pid", "tid", "name")
    outer = (pl.col("start_ns") >= reached).fill_null(value=True)
    rows = (
        calls.with_columns(spent=(pl.col("end_ns") - pl.col("start_ns")) * outer)
        .with_columns(device=pl.col("device") * outer)
        .group_by("name", "input_dims")
        .agg(pl.len().alias("count"), pl.sum("spent"), pl.sum("own"), pl.sum("device"))
        .sort(["own", "spent", "name", "input_dims"], descending=[True, True, False, False])
    )
    whole = int(rows["own"].sum())
    return tuple(
        Operator(
            name,
            dims,
            count,
            spent,
            own,
            own / whole if whole else 0.0,
            device if has_device else None,
        )
        for name, dims, count, spent, own, device in rows.iter_rows()
    )


def _own_time(host: pl.DataFrame, is_operator: Bools) -> Ints:
    """Duration less that of the operators directly inside, calls and Python between them disregarded."""
    above = ancestry.nearest(host, is_operator)
    start, end = (host.get_column(name).to_numpy() for name in ("start_ns", "end_ns"))
    own: Ints = end - start
    inner = np.flatnonzero(is_operator & (above >= 0))
    outer = above[inner]
    shared = np.minimum(end[inner], end[outer]) - start[inner]
    np.subtract.at(own, outer, np.maximum(shared, 0))
    return np.clip(own, 0, None)


def _device_inside(trace: Trace, is_operator: Bools) -> Ints:
    """For each operator, the summed duration of the device work launched inside it."""
    host = trace.host
    linked = trace.device.filter(pl.col("launch").is_not_null())
    spent = (linked["end_ns"] - linked["start_ns"]).to_numpy()
    # Each launch hands its work to the operator around it, and every operator to the one around itself.
    work = np.zeros(len(host), dtype=np.int64)
    np.add.at(work, linked["launch"].to_numpy(), spent)
    above = ancestry.nearest(host, is_operator)
    out = np.zeros(len(host), dtype=np.int64)
    rows = np.flatnonzero(work)
    at, amount = above[rows], work[rows]
    while len(at):
        held = at >= 0
        at, amount = at[held], amount[held]
        np.add.at(out, at, amount)
        at = above[at]
    return out


ANALYSIS = Analysis(
    "operators", run, "Operators by name and input shapes: count, time, device time."
)
