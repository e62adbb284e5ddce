"""Operator to launch to device work: by correlation, then by flow events, then by what encloses the launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.trace import ancestry
from stepscope.trace.matching import matches

if TYPE_CHECKING:
    from collections.abc import Callable


def link(
    host: pl.DataFrame, device: pl.DataFrame, arrows: Callable[[], pl.DataFrame | None]
) -> pl.DataFrame:
    """Adds ``launch`` and ``operator`` (rows of host, null where unknown) to the device table.

    One runtime call may launch many kernels (a graph). A driver call inside a runtime call carries the
    same correlation; the outer one is the launch.

    Args:
        host: Table HOST of one file.
        device: Table DEVICE of the same file, without the two columns.
        arrows: Makes flow events as ``trace.flows.arrows`` gives them; asked only where a correlation is missing.
    """
    calls = (
        host.select("correlation", "pid", "tid", "start_ns", "end_ns")
        .with_row_index("launch")
        .filter(pl.Series(matches(host["kind"], "^(runtime|driver)$"), dtype=pl.Boolean))
        .with_columns(pl.col("launch").cast(pl.Int64))
    )
    by_correlation = (
        calls.select("correlation", "launch")
        .filter(pl.col("correlation").is_not_null() & (pl.col("correlation") != 0))
        .unique("correlation", keep="first", maintain_order=True)
    )
    linked = device.join(by_correlation, on="correlation", how="left", maintain_order="left")
    if linked["launch"].null_count() and (found := arrows()) is not None:
        linked = _by_flow(calls, linked, found)
    return linked.with_columns(_enclosing_operator(host, linked["launch"]))


def count_by_flow(host: pl.DataFrame, device: pl.DataFrame) -> int:
    """How many rows of a linked device table a flow event linked, and no correlation."""
    linked = device.filter(pl.col("launch").is_not_null())
    by_call = host["correlation"].gather(linked["launch"])
    return len(linked) - int((by_call == linked["correlation"]).sum())


def _by_flow(calls: pl.DataFrame, device: pl.DataFrame, arrows: pl.DataFrame) -> pl.DataFrame:
    """Fills ``launch`` where an arrow points at the start of the work and comes out of a call."""
    launching = (
        arrows.sort("from_ns")
        .join_asof(
            calls.select(
                pl.col("pid").alias("from_pid"),
                pl.col("tid").alias("from_tid"),
                pl.col("start_ns").alias("call_ns"),
                pl.col("end_ns").alias("call_end_ns"),
                pl.col("launch").alias("by_flow"),
            ).sort("call_ns"),
            left_on="from_ns",
            right_on="call_ns",
            by=["from_pid", "from_tid"],
            check_sortedness=False,
        )
        .filter(pl.col("by_flow").is_not_null() & (pl.col("from_ns") <= pl.col("call_end_ns")))
        .select(
            pl.col("to_pid").alias("device"),
            pl.col("to_tid").alias("stream"),
            pl.col("to_ns").alias("start_ns"),
            "by_flow",
        )
        .unique(["device", "stream", "start_ns"], keep="none")
    )
    return device.join(
        launching, on=["device", "stream", "start_ns"], how="left", maintain_order="left"
    ).select(*device.columns[:-1], pl.coalesce("launch", "by_flow").alias("launch"))


def _enclosing_operator(host: pl.DataFrame, launch: pl.Series) -> pl.Series:
    is_operator = matches(host["kind"], "^operator$")
    nearest = np.append(ancestry.nearest(host, is_operator), -1)
    row = launch.fill_null(-1).to_numpy()
    return pl.Series("operator", nearest[row], dtype=pl.Int64).replace(-1, None)
