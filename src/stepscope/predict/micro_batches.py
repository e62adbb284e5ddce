"""Gradients that are sent with every micro-batch, though the optimizer waits for the last one only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.predict.graph import COMMUNICATION, NONE
from stepscope.trace import call_names
from stepscope.trace.collectives import element_bytes, kind_of

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.intervals import Bools, Floats, Ints
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
    sent = _bytes(moved)
    asked = graph.origin[graph.launch[rows]]
    batch = np.searchsorted(forward, asked, side="right") - 1
    counts = (batch >= 0) & _carries_gradients(moved)
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


def _carries_gradients(moved: pl.DataFrame) -> Bools:
    names = moved.select(pl.coalesce("collective", pl.col("name").cast(pl.String))).to_series()
    kinds = {name: kind_of(name) in GRADIENTS for name in names.unique().to_list()}
    return np.array([kinds[name] for name in names.to_list()], dtype=np.bool_)


def _bytes(moved: pl.DataFrame) -> Floats:
    """Size of each message; 1 where it was not recorded, so that messages are counted."""
    dtypes = moved.get_column("collective_dtype")
    sizes = {dtype: element_bytes(dtype) for dtype in dtypes.unique().to_list()}
    size = pl.Series([sizes[dtype] for dtype in dtypes.to_list()], dtype=pl.Int64)
    both = moved.get_column("collective_elements") * size
    found: Floats = both.fill_null(1).to_numpy().astype(np.float64)
    return found
