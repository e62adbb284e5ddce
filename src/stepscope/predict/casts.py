"""Mixed precision taken back: the casts that it needs go, and what it made faster becomes slow again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from stepscope.predict import change
from stepscope.predict.graph import COMPUTE, NONE, OPERATOR
from stepscope.predict.matrix import peak_ratio
from stepscope.trace import call_names, kernel_names
from stepscope.trace import intervals as iv
from stepscope.trace.matching import matches

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.intervals import Bools, Floats, Ints
    from stepscope.trace.model import Trace

CAST = r"^aten::(to|_to_copy)$"
"""Operators below which types change. A kernel there converts; a copy between host and device is none."""

CHANGES = r"^aten::_to_copy$"
"""The one that is there only when something really changes."""

IN_16_BITS = r"(?i)bfloat16|bf16|half|f16|fp16|hgemm|16816|h884|hmma|nvjet_[ht]s"
"""Kernels that work on values of 16 bits."""

SLOWER = 2.0
"""In 32 bits twice as many bytes move, and TF32 has half the peak of 16 bits on every device that has both
(NVIDIA's data sheets: A100 156 of 312, H100 495 of 989, RTX 4090 82.6 of 165.2 TFLOP/s)."""

TF32_SINCE = (8, 0)
"""Devices before this one multiply matrices of 32 bits without Tensor Cores."""


class Casts(Struct, frozen=True, eq=False):
    """Casts of one graph.

    Attributes:
        work: Kernels that cast, shape ``(work,)``.
        host_ns: Time of the host in casts that launch such kernels, in steady steps.
        without: The graph with neither casts nor mixed precision.
        cheap: The graph without casts in which all else stays as fast as it is.
    """

    work: Bools
    host_ns: float
    without: Graph
    cheap: Graph


def casts_of(trace: Trace, graph: Graph) -> Casts | None:
    """``None`` without casts, without kernels in 16 bits, or on a device of which the speed in 32 is not known."""
    host = trace.host
    capability = _capability(trace)
    inside = call_names.matching(host, CHANGES, ("operator",))
    operators = trace.device.get_column("operator").fill_null(NONE).to_numpy()
    row = operators[graph.table_row]
    work = (graph.sort == COMPUTE) & (row != NONE) & _is_within(host, inside)[row]
    names = trace.device.get_column("name").gather(graph.table_row)
    narrow = matches(names, IN_16_BITS) & (graph.sort == COMPUTE) & ~work
    if not work.any() or not narrow.any() or capability is None:
        return None
    spans, measured = _spans(trace, graph, work)
    gaps = graph.gaps.copy()
    gaps[:, OPERATOR] = np.maximum(gaps[:, OPERATOR] - _overlap(graph, spans), 0)
    launches = np.zeros(len(graph.own), dtype=np.bool_)
    launches[graph.launch[work & (graph.launch != NONE)]] = True
    free = replace(graph, gaps=gaps, own=np.where(launches, 0, graph.own))
    cheap = change.faster(free, work, 1e9)
    slower = 1 / _factors(names, capability)
    return Casts(work, measured, change.faster(cheap, narrow, slower), cheap)


def _capability(trace: Trace) -> tuple[int, int] | None:
    return next((one.compute_capability for one in trace.meta.devices), None)


def _is_within(host: pl.DataFrame, wanted: Bools) -> Bools:
    """Whether each event is wanted or lies in a wanted one of its thread; shape ``(len(host) + 1,)``."""
    parent = host.get_column("parent").fill_null(NONE).to_numpy()
    out = np.append(wanted, values=False)
    while True:
        more = out[:-1] | out[parent]
        if (more == out[:-1]).all():
            return out
        out[:-1] = more


def _spans(trace: Trace, graph: Graph, work: Bools) -> tuple[Ints, float]:
    """When the host is in casts that launch a kernel, and how long that is in the steady steps."""
    host = trace.host
    casts = host.filter(pl.Series(call_names.matching(host, CAST, ("operator",))))
    spans = iv.of(casts)
    at = graph.origin[graph.launch[work & (graph.launch != NONE)]]
    found = np.searchsorted(spans[:, 0], at, side="right") - 1
    used = spans[np.unique(found[found >= 0])]
    steady = iv.pairs(graph.origin[graph.starts], graph.origin[graph.ends])[graph.is_steady]
    return used, float(iv.total(iv.intersect(used, iv.union(steady))))


def _overlap(graph: Graph, spans: Ints) -> Ints:
    """How much of the gap before each anchor lies in the spans, shape ``(anchors,)``."""
    follows = graph.after != NONE
    since = np.where(follows, graph.returned[graph.after], graph.origin)
    return iv.measure(spans, iv.pairs(since, np.maximum(graph.origin, since)))


def _factors(names: pl.Series, capability: tuple[int, int]) -> Floats:
    """How much longer each kernel takes in 32 bits, shape ``(work,)``."""
    distinct = names.unique()
    texts = distinct.cast(pl.String).to_list()
    matrix = [kernel_names.is_matrix(name) for name in texts]
    hit = names.is_in(distinct.filter(pl.Series(matrix, dtype=pl.Boolean)).implode()).to_numpy()
    plain = peak_ratio(capability) if capability < TF32_SINCE else SLOWER
    out: Floats = np.where(hit, plain or SLOWER, SLOWER)
    return out
