"""Kinds of work that a known change shortens or removes: how much there is of each, and what that gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from stepscope.predict import change
from stepscope.predict.casts import casts_of
from stepscope.predict.graph import COMPUTE, OPERATOR, REST, TO_DEVICE
from stepscope.predict.messages import small_messages
from stepscope.predict.micro_batches import needless_rounds
from stepscope.predict.whatif import gain, outcome
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.matching import matches

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.predict.replay import Replay
    from stepscope.schema.report import Gain
    from stepscope.trace.intervals import Bools
    from stepscope.trace.model import Trace

Kind = Literal[
    "layout", "softmax", "narrow", "optimizer", "zero_grad", "casts", "messages", "micro"
]

GONE = 1e9
"""A factor that leaves nothing."""

BY_NAME: tuple[tuple[Kind, str, float, float], ...] = (
    ("layout", r"(?i)nchw_?to_?nhwc|nhwc_?to_?nchw|nchw2nhwc|nhwc2nchw", 2.0, GONE),
    ("softmax", r"(?i)softmax_warp|cunn_softmax|persistent_softmax", 2.0, GONE),
    ("narrow", r"(?i)(16816|1688|884|tensorop|[hi]mma|wmma).*_align[124](\D|$)", 1.1, 2.0),
)
"""Kernels by name, and how many times faster they get at least and at most.

Copies between layouts go where all layers keep their channels last, and half of them where some do not. A
softmax beside matrix products goes into a fused attention kernel, or its memory traffic does. Products whose
rows begin at odd addresses load 2 to 8 bytes at a time instead of 16: by NVIDIA's guide on matrix products they
take up to twice as long.
"""

OF_LOSS = r"LogSoftMax|softmax_warp_\w+<[^>]*, \d+, true"
"""Softmax kernels of a loss, which no attention kernel takes over."""

REGIONS: tuple[tuple[Kind, str, float, float], ...] = (
    ("optimizer", r"^Optimizer\.step#", 1.0, 2.0),
    ("zero_grad", r"^Optimizer\.zero_grad#", GONE, GONE),
)
"""Ranges that PyTorch names around what the host does, and how many times faster the device's work in them gets.

A fused optimizer launches a few kernels for all parameters, which read and write each value once. Gradients
that are dropped need no zeroing.
"""


class ClassGain(Struct, frozen=True):
    """One kind of work.

    Attributes:
        kind: Which.
        kernels: Pieces of device work in the mean steady step.
        work_ns: Their summed duration there.
        host_ns: Time of the host in the range or the operators there; 0 for kernels known by name.
        name: The longest kernel in total; foreign text.
        gain: Without it, or with less of it.
    """

    kind: Kind
    kernels: float
    work_ns: float
    host_ns: float
    name: str
    gain: Gain


def class_gains(trace: Trace, base: Replay) -> tuple[ClassGain, ...]:
    """All kinds that the steady steps hold."""
    graph = base.graph
    if not len(graph.launch) or not graph.are_steps:
        return ()
    names = trace.device.get_column("name").gather(graph.table_row)
    found = []
    for kind, pattern, low, high in BY_NAME:
        work = matches(names, pattern) & (graph.sort == COMPUTE)
        if kind == "softmax":
            work &= ~matches(names, OF_LOSS)
        ways = [change.faster(graph, work, factor) for factor in (low, high)]
        found.append(_class(base, names, (kind, work, 0.0), ways))
    for kind, pattern, low, high in REGIONS:
        inside, host_ns = _region(trace, graph, pattern)
        work = _launched_by(graph, inside) & (graph.sort != TO_DEVICE)
        # Few kernels have few spaces between them.
        near = np.where(work, np.minimum(graph.space, 0), graph.space).astype(np.int64)
        quick = replace(_host_free(graph, inside), space=near)
        ways = [change.faster(quick, work, factor) for factor in (low, high)]
        found.append(_class(base, names, (kind, work, host_ns), ways))
    found += _others(trace, base, names)
    return tuple(one for one in found if one is not None)


def _others(trace: Trace, base: Replay, names: pl.Series) -> list[ClassGain | None]:
    """Kinds that more than a name tells."""
    graph, found = base.graph, []
    casts = casts_of(trace, graph)
    if casts is not None:
        ways = [casts.without, casts.cheap]
        found.append(_class(base, names, ("casts", casts.work, casts.host_ns), ways))
    small = small_messages(trace, graph)
    if small is not None:
        found.append(_class(base, names, ("messages", small.work, 0.0), [small.least, small.most]))
    needless = needless_rounds(trace, graph)
    if needless is not None:
        ways = [change.faster(graph, needless, GONE)]
        found.append(_class(base, names, ("micro", needless, 0.0), ways))
    return found


def _class(
    base: Replay, names: pl.Series, what: tuple[Kind, Bools, float], ways: list[Graph]
) -> ClassGain | None:
    kind, work, host_ns = what
    graph = base.graph
    steady = np.flatnonzero(graph.is_steady)
    inside = work & np.isin(graph.step_of_work, steady)
    if not inside.any():
        return None
    made = gain(base, [outcome(base, way) for way in ways])
    if made is None:
        return None
    frame = pl.DataFrame({"name": names.cast(pl.String), "ns": graph.length}).filter(inside)
    longest = (
        frame.group_by("name").agg(pl.sum("ns")).sort(["ns", "name"], descending=[True, False])
    )
    count = len(steady)
    return ClassGain(
        kind=kind,
        kernels=float(inside.sum()) / count,
        work_ns=float(graph.length[inside].sum()) / count,
        host_ns=host_ns / count,
        name=str(longest["name"][0]),
        gain=made,
    )


def _region(trace: Trace, graph: Graph, pattern: str) -> tuple[Bools, float]:
    """Anchors that start in ranges of that name, shape ``(anchors,)``, and the ranges' time in steady steps."""
    ranges = iv.of(trace.host.filter(call_names.matching(trace.host, pattern, call_names.RANGES)))
    inside: Bools = iv.contains(iv.union(ranges), graph.origin)
    bounds = iv.pairs(graph.origin[graph.starts], graph.origin[graph.ends])[graph.is_steady]
    return inside, float(iv.total(iv.intersect(iv.union(ranges), iv.union(bounds))))


def _launched_by(graph: Graph, anchors: Bools) -> Bools:
    """Device work that one of the anchors launched; work of unknown launch takes the entry behind the last."""
    out: Bools = np.append(anchors, values=False)[graph.launch]
    return out


def _host_free(graph: Graph, anchors: Bools) -> Graph:
    """Operators, launches and Python of these anchors cost the host nothing."""
    gaps = graph.gaps.copy()
    for column in (OPERATOR, REST):
        gaps[anchors, column] = 0
    return replace(graph, gaps=gaps, own=np.where(anchors, 0, graph.own))
