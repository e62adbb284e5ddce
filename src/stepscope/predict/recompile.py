"""Compilation inside steady steps: how much there is, and what it gains to be rid of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from stepscope.predict.graph import NONE, OPERATOR, PAUSE, REST
from stepscope.predict.whatif import gain, outcome
from stepscope.trace import call_names
from stepscope.trace import intervals as iv

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.predict.replay import Replay
    from stepscope.schema.report import Gain
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace

COMPILES = r"^_compile\.compile_inner|^entire_frame_compile"
"""Ranges in which PyTorch compiles a function anew, from its first line to its kernels."""


class Recompiled(Struct, frozen=True):
    """Compilation in steady steps.

    Attributes:
        steps: Steady steps that hold some.
        count: Compilations in steady steps.
        host_ns: Time in them in the mean steady step.
        gain: Without them.
    """

    steps: int
    count: int
    host_ns: float
    gain: Gain


def recompiled(trace: Trace, base: Replay) -> Recompiled | None:
    """Compilation in the steady steps; ``None`` without any, or where steps could not be told apart."""
    graph = base.graph
    rows = call_names.matching(trace.host, COMPILES, call_names.RANGES)
    if not graph.are_steps or not rows.any():
        return None
    ranges = iv.union(iv.of(trace.host.filter(rows)))
    bounds = iv.pairs(graph.origin[graph.starts], graph.origin[graph.ends])[graph.is_steady]
    spent = iv.measure(ranges, bounds)
    if not spent.any():
        return None
    made = gain(base, [outcome(base, _without(graph, ranges))])
    if made is None:
        return None
    return Recompiled(
        steps=int(np.count_nonzero(spent)),
        count=int(iv.contains(iv.union(bounds), ranges[:, 0]).sum()),
        host_ns=float(spent.mean()),
        gain=made,
    )


def _without(graph: Graph, ranges: Ints) -> Graph:
    """The graph in which the host spends no time in the ranges."""
    since = np.where(graph.after == NONE, graph.origin, graph.returned[graph.after])
    left = iv.measure(ranges, iv.pairs(since, np.maximum(graph.origin, since)))
    gaps = graph.gaps.copy()
    for column in (OPERATOR, PAUSE, REST):
        taken = np.minimum(left, np.maximum(gaps[:, column], 0))
        gaps[:, column] -= taken
        left = left - taken
    return replace(graph, gaps=gaps)
