"""How long copies from pageable memory would take from pinned memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from stepscope.predict.graph import TO_DEVICE

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.model import Trace

USUAL_BYTES_PER_NS = 10.0
"""What a link carries where the trace shows no large pinned copy: PCI Express 3.0 with 16 lanes, the
slowest that data-centre cards come with, moves 15.75 GB/s by its standard and 11 to 13 in practice."""

LARGE_BYTES = 1_000_000
"""Smaller copies are bound by latency and tell no bandwidth."""


def copies_at_link_speed(trace: Trace, graph: Graph) -> Graph:
    """The graph with copies from pageable memory as fast as the link, which is never slower than they are."""
    pageable = trace.device.get_column("is_pageable").fill_null(value=False)
    sizes = trace.device.get_column("bytes").fill_null(0).to_numpy().astype(np.float64)
    row = graph.table_row
    slow = pageable.to_numpy().astype(np.bool_)[row] & (graph.sort == TO_DEVICE)
    fast = (graph.sort == TO_DEVICE) & ~slow & (sizes[row] >= LARGE_BYTES) & (graph.length > 0)
    speed = (
        float(np.median(sizes[row][fast] / graph.length[fast]))
        if fast.any()
        else USUAL_BYTES_PER_NS
    )
    at_link = np.rint(sizes[row] / speed).astype(np.int64)
    shorter = np.where(slow & (at_link > 0), np.minimum(graph.length, at_link), graph.length)
    return replace(graph, length=shorter)
