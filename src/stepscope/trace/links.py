"""Operator to launch to device work: by correlation, then by flow events, then by what encloses the launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.trace import ancestry
from stepscope.trace.call_names import CALLS, of_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.trace.intervals import Bools, Ints


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
    is_call = of_kind(host, *CALLS)
    linked = device.with_columns(launch=_by_correlation(host, is_call, device["correlation"]))
    if linked["launch"].null_count() and (found := arrows()) is not None:
        linked = _by_flow(_calls(host, is_call), linked, found)
    return linked.with_columns(_enclosing_operator(host, linked["launch"]))


def _by_correlation(host: pl.DataFrame, is_call: Bools, correlation: pl.Series) -> pl.Series:
    """The first call that carries each of the correlations; null where there is none, or the correlation is 0."""
    rows = np.flatnonzero(is_call)
    theirs = host["correlation"].fill_null(0).to_numpy()[rows]
    rows, theirs = rows[theirs != 0], theirs[theirs != 0]
    order = np.argsort(theirs, kind="stable")
    rows, theirs = rows[order], theirs[order]
    wanted = correlation.fill_null(0).to_numpy()
    place = np.searchsorted(theirs, wanted)
    found = place < len(theirs)
    found[found] = theirs[place[found]] == wanted[found]
    launch = np.full(len(wanted), -1, np.int64)
    launch[found] = rows[place[found]]
    return _null_below_zero("launch", launch)


def _calls(host: pl.DataFrame, is_call: Bools) -> pl.DataFrame:
    return (
        host.select("pid", "tid", "start_ns", "end_ns")
        .with_row_index("launch")
        .filter(pl.Series(is_call))
        .with_columns(pl.col("launch").cast(pl.Int64))
    )


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
    nearest = np.append(ancestry.nearest(host, of_kind(host, "operator")), -1)
    row = launch.fill_null(-1).to_numpy()
    return _null_below_zero("operator", nearest[row])


def _null_below_zero(name: str, rows: Ints) -> pl.Series:
    """Row numbers with nulls instead of -1."""
    series = pl.Series(name, rows)
    return series.set(pl.Series(rows < 0), None) if (rows < 0).any() else series
