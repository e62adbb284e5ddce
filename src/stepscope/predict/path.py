"""The critical path as the report tells it, with the kernels that are worth being faster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.predict import change
from stepscope.predict.critical import critical_path
from stepscope.predict.graph import COMPUTE, NONE, PAUSE, REST
from stepscope.predict.whatif import gain, outcome
from stepscope.schema.path_report import PathKernel, PathReport
from stepscope.schema.vocabulary import PATH_PARTS
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.idle import of_profiler
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.predict.critical import CriticalPath
    from stepscope.predict.graph import Graph
    from stepscope.predict.replay import Replay
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace

MOST_UNKNOWN = 1 / 3
"""Where more of the path is not the program's, or does not tell what it is, the rest says too little."""

NEAR = 0.05
"""A replay that is nearer to the steps without the profiler than this is taken to be of them."""

MOST_KERNELS = 3
"""So many kernels are each replayed twice as fast."""

LEAST_SHARE = 0.1
"""A kernel that holds less of the path gains less than 1.06x with twice its speed: what leaves the path cannot be
more than what lay on it."""

LEAST_GAIN = 1.02
"""A kernel whose doubled speed gains less at best, because something else takes its place, is not named."""


def path_of(trace: Trace, base: Replay, clean_ns: float | None = None) -> PathReport | None:
    """The critical path of the steady steps; ``None`` where too much of it is unknown.

    Args:
        trace: What was replayed.
        base: Its replay, which has a steady step, without the profiler where that is known.
        clean_ns: A step without the profiler; ``None`` where none was timed.
    """
    found = critical_path(base.graph, base.times, gaps_of(trace, base.graph))
    unknown = found.share("unexplained") + found.share("profiler")
    if not found.length_ns or unknown > MOST_UNKNOWN:
        return None
    parts = (ns_to_ms(ns / found.steps) for ns in found.parts_ns)
    return PathReport(
        steps=found.steps if base.graph.are_steps else 0,
        step_ms=ns_to_ms(found.length_ns / found.steps),
        is_clean=clean_ns is not None and abs(found.length_ns / found.steps / clean_ns - 1) < NEAR,
        parts_ms=dict(zip(PATH_PARTS, parts, strict=True)),
        kernels=_kernels(trace, base, found),
    )


def gaps_of(trace: Trace, graph: Graph) -> Ints:
    """The graph's gaps with two more columns: the profiler's own waiting, and time of which nothing is known.

    Nothing is known of the host's time between calls where no operators were recorded, nor of a thread
    beside the training thread when it pauses: it may wait for something to do.

    Returns:
        Shape ``(anchors, 7)``, ns; rows sum to those of ``graph.gaps``.
    """
    gaps = np.concatenate((graph.gaps, np.zeros((len(graph.gaps), 2), dtype=np.int64)), axis=1)
    profiler, unknown = gaps.shape[1] - 2, gaps.shape[1] - 1
    calls = of_profiler(trace)
    if calls.any():
        since = np.where(graph.after == NONE, graph.origin, graph.returned[graph.after])
        spans = iv.pairs(since, np.maximum(graph.origin, since))
        spent = iv.measure(iv.of(trace.host.filter(calls)), spans)
        for column in (PAUSE, REST):
            moved = np.clip(spent, 0, np.maximum(gaps[:, column], 0))
            gaps[:, column] -= moved
            gaps[:, profiler] += moved
            spent = spent - moved
    nowhere = np.ones(len(gaps), dtype=np.bool_)
    has_operators = bool(call_names.operators(trace.host).any())
    columns, rows = ([PAUSE], ~graph.is_main) if has_operators else ([PAUSE, REST], nowhere)
    for column in columns:
        gaps[rows, unknown] += gaps[rows, column]
        gaps[rows, column] = 0
    return gaps


def _kernels(trace: Trace, base: Replay, found: CriticalPath) -> tuple[PathKernel, ...]:
    """Those that hold most of the path and whose doubled speed shortens the step."""
    graph = base.graph
    if not found.length_ns or found.share("compute") < LEAST_SHARE:
        return ()
    names = trace.device.get_column("name").cast(pl.String).gather(graph.table_row)
    kept = (found.work_ns > 0) & (graph.sort == COMPUTE)
    top = (
        pl.DataFrame({"name": names, "ns": found.work_ns})
        .filter(kept)
        .group_by("name")
        .agg(pl.sum("ns"))
        .filter(pl.col("ns") >= LEAST_SHARE * found.length_ns)
        .sort(["ns", "name"], descending=[True, False])
        .head(MOST_KERNELS)
    )
    rows = []
    for name, ns in top.iter_rows():
        quick = change.faster(graph, (names == name).to_numpy() & (graph.sort == COMPUTE), 2.0)
        one = gain(base, [outcome(base, quick)])
        if one is not None and one.high >= LEAST_GAIN:
            spent = ns_to_ms(ns / found.steps)
            rows.append(PathKernel(name=name, ms=spent, frac=ns / found.length_ns, gain=one))
    return tuple(rows)
