"""Operator to launch to device work: by correlation, then by what encloses the launch on its thread."""

from __future__ import annotations

import numpy as np
import polars as pl

MOST_LEVELS = 8


def link(host: pl.DataFrame, device: pl.DataFrame) -> pl.DataFrame:
    """Adds ``launch`` and ``operator`` (rows of host, null where unknown) to the device table.

    One runtime call may launch many kernels (a graph). A driver call inside a runtime call carries the
    same correlation; the outer one is the launch.

    Args:
        host: Table HOST of one file.
        device: Table DEVICE of the same file, without the two columns.
    """
    calls = (
        host.with_row_index("launch")
        .filter(pl.col("kind").is_in(["runtime", "driver"]) & pl.col("correlation").is_not_null())
        .select("correlation", pl.col("launch").cast(pl.Int64))
        .filter(pl.col("correlation") != 0)
        .unique("correlation", keep="first", maintain_order=True)
    )
    linked = device.join(calls, on="correlation", how="left", maintain_order="left")
    return linked.with_columns(_enclosing_operator(host, linked["launch"]))


def _enclosing_operator(host: pl.DataFrame, launch: pl.Series) -> pl.Series:
    parent = host["parent"].fill_null(-1).to_numpy()
    is_operator = (host["kind"] == "operator").to_numpy()
    row = launch.fill_null(-1).to_numpy().copy()
    for _ in range(MOST_LEVELS):
        seeking = np.flatnonzero(row >= 0)
        seeking = seeking[~is_operator[row[seeking]]]
        if not len(seeking):
            break
        row[seeking] = parent[row[seeking]]
    else:
        row[(row >= 0) & ~is_operator[row]] = -1
    return pl.Series("operator", row, dtype=pl.Int64).replace(-1, None)
