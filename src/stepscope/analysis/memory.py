"""Peak memory and its growth, where the allocator was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace.holders import holders_of
from stepscope.trace.scope import Scope, scope_of

if TYPE_CHECKING:
    from stepscope.trace.model import Trace

_TYPES = {0: "cpu", 1: "cuda", 6: "hip", 12: "xpu", 19: "mtia"}
"""PyTorch's device types (c10/core/DeviceType.h)."""

LEAST_STEPS = 3
"""A slope needs three steady steps."""


class Holder(Struct, frozen=True):
    """Blocks of memory that stay, asked for at one place.

    Attributes:
        operator: The outermost operator around the request; ``""`` outside of all. Foreign text.
        bytes_per_step: What it adds in the mean of the steps looked at.
        blocks: How many there are in all.
    """

    operator: str
    bytes_per_step: float
    blocks: int


class Memory(Struct, frozen=True):
    """Memory of one device or of the host.

    Attributes:
        device: ``cpu`` or for instance ``cuda:0``.
        allocated_bytes: Highest total allocated.
        reserved_bytes: Highest total held by the caching allocator; ``None`` where not recorded.
        capacity_bytes: The device's memory; ``None`` where not known.
        growth_bytes_per_step: Slope of the lowest total of each steady step; ``None`` below three.
        holders: Who asked for what stays of steady steps, the last one left out; ``None`` without a growth, or
            where blocks cannot be told apart.
    """

    device: str
    allocated_bytes: int
    reserved_bytes: int | None
    capacity_bytes: int | None
    growth_bytes_per_step: float | None
    holders: tuple[Holder, ...] | None = None


def run(trace: Trace) -> tuple[Memory, ...]:
    """Peaks of every device that the allocator names, the host last."""
    known = trace.memory.filter(pl.col("total_allocated_bytes").is_not_null())
    scope = scope_of(trace)
    groups = known.group_by("device_type", "device_id", maintain_order=True)
    rows = [_row(int(str(key[0])), int(str(key[1])), group, trace, scope) for key, group in groups]
    return tuple(sorted(rows, key=lambda row: (row.device == "cpu", row.device)))


def _row(kind: int, number: int, events: pl.DataFrame, trace: Trace, scope: Scope) -> Memory:
    on_host = kind == 0
    name = _TYPES.get(kind, f"device type {kind}")
    reserved = events["total_reserved_bytes"].drop_nulls()
    peak = int(reserved.to_numpy().max(initial=0))
    growth = _growth(events, scope)
    capacity = [d.memory_bytes for d in trace.meta.devices if d.number == number]
    return Memory(
        device=name if on_host else f"{name}:{max(number, 0)}",
        allocated_bytes=int(events["total_allocated_bytes"].to_numpy().max()),
        reserved_bytes=peak if peak > 0 and not on_host else None,
        capacity_bytes=capacity[0] if capacity and not on_host else None,
        growth_bytes_per_step=growth,
        holders=_holders(events, trace, scope) if growth is not None and growth > 0 else None,
    )


def _holders(events: pl.DataFrame, trace: Trace, scope: Scope) -> tuple[Holder, ...] | None:
    """Who asked for what stays; blocks of the last step may be given back behind it."""
    steps = scope.bounds[scope.is_steady][:-1]
    found = holders_of(trace, events, steps)
    if found is None:
        return None
    return tuple(
        Holder(operator, size / len(steps), blocks) for operator, size, blocks in found.iter_rows()
    )


def _growth(events: pl.DataFrame, scope: Scope) -> float | None:
    """Least-squares slope of the lowest total of each steady step that has events."""
    steady = scope.bounds[scope.is_steady]
    if not scope.are_steps or len(steady) < LEAST_STEPS:
        return None
    times = events["time_ns"].to_numpy()
    step = np.searchsorted(steady[:, 0], times, side="right") - 1
    inside = (step >= 0) & (times < steady[np.maximum(step, 0), 1])
    lowest = (
        events.select("total_allocated_bytes", step=pl.Series(step))
        .filter(pl.Series(inside))
        .group_by("step")
        .agg(pl.min("total_allocated_bytes"))
        .sort("step")
    )
    if len(lowest) < LEAST_STEPS:
        return None
    x, y = lowest["step"].to_numpy(), lowest["total_allocated_bytes"].to_numpy()
    # By differences from the first, so that what does not grow has a slope of exactly 0.
    away = x - x.mean()
    return float(away @ (y - y[0]) / (away @ away))


ANALYSIS = Analysis("memory", run, "Peak memory and growth per step, where recorded.")
