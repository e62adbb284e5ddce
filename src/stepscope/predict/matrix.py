"""What Tensor Cores could gain: a roofline bound on kernels that multiply matrices without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.predict.graph import COMPUTE
from stepscope.trace import kernel_names

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.intervals import Bools
    from stepscope.trace.model import Trace

MEMORY_RATIO = 2.0
"""A kernel that is limited by memory takes half the time in 16 bits, because it moves half the bytes."""

PEAK_RATIO = {
    (7, 0): 8.0,
    (7, 5): 8.0,
    (8, 0): 16.0,
    (8, 6): 4.0,
    (8, 9): 4.0,
    (9, 0): 14.8,
}
"""Dense peak in 16 bits on Tensor Cores over that in 32 bits without, from NVIDIA's data sheets by compute
capability: V100 125/15.7, T4 65/8.1, A100 312/19.5, A10 125/31.2, L4 121/30.3, H100 SXM 989/67."""


def plain_matrix_work(trace: Trace, graph: Graph) -> Bools:
    """Kernels that multiply matrices and certainly use no Tensor Cores, shape ``(work,)``."""
    names = trace.device.get_column("name")
    distinct = names.unique()
    texts = distinct.cast(pl.String).to_list()
    plain = [
        kernel_names.is_matrix(name) and kernel_names.uses_tensor_cores(name) is False
        for name in texts
    ]
    hit = names.is_in(distinct.filter(pl.Series(plain, dtype=pl.Boolean)).implode()).to_numpy()
    out: Bools = np.asarray(hit, dtype=np.bool_)[graph.table_row] & (graph.sort == COMPUTE)
    return out


def peak_ratio(capability: tuple[int, int] | None) -> float | None:
    """How much faster matrix products can get; ``None`` for a device that is not in the table."""
    return PEAK_RATIO.get(capability) if capability is not None else None
