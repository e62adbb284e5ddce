"""Gradients that are sent with every micro-batch, though the optimizer waits for the last one only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepscope.predict.graph import COMMUNICATION, NONE
from stepscope.predict.moved import kinds, sizes
from stepscope.trace import call_names

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace

FORWARD = r"^DistributedDataParallel\.forward$"
"""The range that PyTorch records around the forward pass of each micro-batch."""

OPTIMIZER = r"^Optimizer\.step#"

GRADIENTS = ("all-reduce", "reduce-scatter")
"""Kinds of collectives that carry gradients."""

LEAST_ALIKE = 0.5
"""A micro-batch that sends less than this share of what the last one sends does not send its gradients."""


def needless_rounds(trace: Trace, graph: Graph) -> Bools | None:
    """Messages of gradients that were asked for in a micro-batch behind which no optimizer stepped.

    Returns:
        Which work, shape ``(work,)``; ``None`` where the ranges are not there, or each forward pass has its step.
    """
    forward = _starts(trace, FORWARD)
    last = _last_of(forward, _starts(trace, OPTIMIZER))
    if len(forward) < 2 or (last == np.arange(len(forward))).all():
        return None
    rows = np.flatnonzero((graph.sort == COMMUNICATION) & (graph.launch != NONE))
    moved = trace.device[graph.table_row[rows]]
    # Where sizes were not recorded, messages are counted.
    sent = sizes(moved).fill_null(1).to_numpy().astype(np.float64)
    asked = graph.origin[graph.launch[rows]]
    batch = np.searchsorted(forward, asked, side="right") - 1
    counts = (batch >= 0) & kinds(moved).is_in(GRADIENTS).to_numpy()
    rows, sent, batch = rows[counts], sent[counts], batch[counts]
    whole = np.bincount(batch, weights=sent, minlength=len(forward))
    ends = last != NONE
    needless = ends & (last != np.arange(len(forward)))
    needless &= (whole > 0) & (whole >= LEAST_ALIKE * whole[last])
    out = np.zeros(len(graph.sort), dtype=np.bool_)
    out[rows[needless[batch]]] = True
    return out if out.any() else None


def _starts(trace: Trace, pattern: str) -> Ints:
    rows = call_names.matching(trace.host, pattern, call_names.RANGES)
    starts: Ints = np.sort(trace.host.get_column("start_ns").to_numpy()[rows])
    return starts


def _last_of(forward: Ints, steps: Ints) -> Ints:
    """The forward pass behind which the optimizer steps that each one's gradients wait for; ``NONE`` without."""
    following = np.searchsorted(steps, forward, side="right")
    out = np.full(len(forward), NONE, dtype=np.int64)
    known = following < len(steps)
    out[known] = np.searchsorted(forward, steps[following[known]], side="left") - 1
    return out
