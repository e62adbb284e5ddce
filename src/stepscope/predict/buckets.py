"""Messages in buckets, as DistributedDataParallel sends gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec.structs import replace

from stepscope.predict.graph import COMMUNICATION, COMPUTE, NONE

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.model import Trace

BUCKET_BYTES = 25 * 1024 * 1024
"""Default of ``bucket_cap_mb`` in DistributedDataParallel."""

HIDEABLE = 0.5
"""Share of a step's compute behind which communication is taken to fit: the backward pass is about two
thirds of it, and its first layers come last."""

BYTES = {"float": 4, "double": 8, "half": 2, "bfloat16": 2, "int": 4, "long": 8}
"""Bytes of an element by the name that PyTorch records, in lower case; of other types 1."""


def in_buckets(trace: Trace, graph: Graph) -> Graph:
    """The graph in which the last message of each step has at most the size of a bucket.

    What was before it travels during the backward pass, as far as there is compute to hide it behind.
    Messages whose size was not recorded stay as they are.
    """
    dtype = trace.device.get_column("collective_dtype").str.to_lowercase()
    size = dtype.replace_strict(BYTES, default=1, return_dtype=pl.Int64)
    sent = (trace.device.get_column("collective_elements") * size).fill_null(0).to_numpy()
    rows = np.flatnonzero(graph.sort == COMMUNICATION)
    step = graph.step_of_work
    length = graph.length.copy()
    for row in rows[np.append(step[rows[1:]] != step[rows[:-1]], True)]:
        if step[row] == NONE:
            continue
        over = 1 - BUCKET_BYTES / max(float(sent[graph.table_row[row]]), BUCKET_BYTES)
        mine = (step == step[row]) & (graph.sort == COMPUTE)
        hidden = min(over * float(length[row]), HIDEABLE * float(length[mine].sum()))
        length[row] -= round(hidden)
    return replace(graph, length=length)
