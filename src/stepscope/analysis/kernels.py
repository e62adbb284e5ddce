"""Kernels by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import kernel_names

if TYPE_CHECKING:
    from stepscope.trace.model import Trace


class Kernel(Struct, frozen=True):
    """All launches of one kernel name.

    Attributes:
        name: Foreign text, whole.
        count, total_ns: Launches and their summed duration.
        share: Of the summed duration of all kernels; 0 when that is 0.
        is_communication: Whether it moves data between ranks.
        uses_tensor_cores: ``None`` where the name does not tell.
        is_matrix: Whether it multiplies matrices or convolves.
    """

    name: str
    count: int
    total_ns: int
    share: float
    is_communication: bool
    uses_tensor_cores: bool | None
    is_matrix: bool


def run(trace: Trace) -> tuple[Kernel, ...]:
    """All kernels of the file, communication included, longest total first."""
    kernels = trace.device.filter(trace.device.get_column("kind").cast(pl.String) == "kernel")
    rows = (
        kernels.with_columns(
            pl.col("name").cast(pl.String), spent=pl.col("end_ns") - pl.col("start_ns")
        )
        .group_by("name")
        .agg(
            pl.len().alias("count"),
            pl.sum("spent"),
            pl.col("is_communication").any().alias("moves"),
        )
        .sort(["spent", "name"], descending=[True, False])
    )
    whole = int(rows["spent"].sum())
    return tuple(
        Kernel(
            name=name,
            count=count,
            total_ns=spent,
            share=spent / whole if whole else 0.0,
            is_communication=moves,
            uses_tensor_cores=False if moves else kernel_names.uses_tensor_cores(name),
            is_matrix=not moves and kernel_names.is_matrix(name),
        )
        for name, count, spent, moves in rows.iter_rows()
    )


ANALYSIS = Analysis("kernels", run, "Kernels by name: count, time, share, Tensor Cores.")
