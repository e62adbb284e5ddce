"""How often work is launched, and whether the device waits for launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.idle import idle_of
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace


MOST_LOST = 0.5
"""From this share of launches without work on, gaps on the device are not called idle."""


class Launches(Struct, frozen=True):
    """Launches of kernels and graphs.

    Attributes:
        count: Launch calls in the file.
        per_step: Launch calls per steady step (window without steps); ``None`` without a steady step.
        kernels_per_step: Kernels that start in one, likewise.
        graph_count: Launches of whole graphs among ``count``.
        mean_kernel_ns: Mean duration of the kernels in them, communication left out.
        interval_ns: Steady time over launch calls in it: how often the host comes to launch.
        median_delay_ns: Median time from a launch to the start of its kernel; ``None`` without links.
        early_count: Kernels that seem to start before their launch (clock skew), counted as no delay.
        unlinked_count: Kernels whose launch lies before the window or was not recorded.
        unanswered_frac: Share of the launch calls whose work is not in the trace (captured into a graph,
            outside the window, or lost); ``None`` without launches.
        pause_count, pause_ns: Steady idle time between kernels of which the later one had been queued in
            time, so that the host did not cause it.
    """

    count: int
    per_step: float | None
    kernels_per_step: float | None
    graph_count: int
    mean_kernel_ns: float | None
    interval_ns: float | None
    median_delay_ns: float | None
    early_count: int
    unlinked_count: int
    unanswered_frac: float | None
    pause_count: int
    pause_ns: int

    @property
    def are_mostly_lost(self) -> bool:
        """Whether half of them or more have no work in the trace, so that gaps may hold work."""
        return self.unanswered_frac is not None and self.unanswered_frac >= MOST_LOST


def run(trace: Trace) -> Launches:
    """Launch figures of one rank."""
    host, device, scope = trace.host, trace.device, scope_of(trace)
    rows = np.flatnonzero(call_names.matching(host, call_names.LAUNCH, call_names.CALLS))
    # A driver call inside a runtime call is the same launch.
    parent = host.get_column("parent").fill_null(-1).to_numpy()
    rows = rows[~np.isin(parent[rows], rows)]
    start = host.get_column("start_ns").to_numpy()
    graphs = call_names.matching(host, call_names.GRAPH_LAUNCH, call_names.CALLS)
    steady = iv.union(scope.bounds[scope.is_steady])
    steps = int(scope.is_steady.sum())
    inside = int(iv.contains(steady, start[rows]).sum())
    kernels = device.filter(device.get_column("kind").cast(pl.String) == "kernel")
    begins = iv.contains(steady, kernels["start_ns"].to_numpy())
    own = kernels.filter(pl.Series(begins) & ~pl.col("is_communication"))
    delay = _delays(trace, kernels)
    pauses = _pauses(trace)
    return Launches(
        count=len(rows),
        per_step=inside / steps if steps else None,
        kernels_per_step=int(begins.sum()) / steps if steps else None,
        graph_count=int(graphs[rows].sum()),
        mean_kernel_ns=float((own["end_ns"] - own["start_ns"]).to_numpy().mean())
        if len(own)
        else None,
        interval_ns=iv.total(steady) / inside if inside else None,
        median_delay_ns=float(np.median(np.maximum(delay, 0))) if len(delay) else None,
        early_count=int((delay < 0).sum()),
        unlinked_count=int(kernels["launch"].is_null().sum()),
        unanswered_frac=_unanswered(device, rows, parent),
        pause_count=int((iv.measure(steady, pauses) > 0).sum()),
        pause_ns=int(iv.measure(steady, pauses).sum()),
    )


def _unanswered(device: pl.DataFrame, rows: Ints, parent: Ints) -> float | None:
    """Share of the launch calls to which, and to the driver calls inside which, no work is linked."""
    if not len(rows):
        return None
    launch = device.get_column("launch").drop_nulls().unique().to_numpy()
    answered = np.isin(rows, launch) | np.isin(rows, parent[launch])
    return float(1 - answered.mean())


def _pauses(trace: Trace) -> Ints:
    if trace.device.is_empty():
        return iv.NONE
    idle = idle_of(trace)
    return idle.gaps[idle.is_queued]


def _delays(trace: Trace, kernels: pl.DataFrame) -> Ints:
    linked = kernels.filter(pl.col("launch").is_not_null())
    launched = trace.host.get_column("start_ns").gather(linked["launch"])
    delays: Ints = (linked["start_ns"] - launched).to_numpy()
    return delays


ANALYSIS = Analysis("launches", run, "Launches per step, their spacing and their delay.")
