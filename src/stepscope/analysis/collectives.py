"""Every collective of the rank, with what the rank did before it: what comparing ranks starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.collectives import element_bytes, kind_of
from stepscope.trace.covers import part_covers
from stepscope.trace.scope import scope_of, windows_of
from stepscope.trace.startup import first_calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace
    from stepscope.trace.process_groups import ProcessGroup

SCHEMA = {
    "kind": pl.String,
    "group": pl.String,
    "group_size": pl.Int64,
    "sequence": pl.Int64,
    "bytes": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "since_ns": pl.Int64,
    "step": pl.Int64,
    "is_startup": pl.Boolean,
    "exposed_ns": pl.Int64,
    "first_ns": pl.Int64,
}
"""Columns of ``Collectives.calls``."""

REMOTE = ("communication", "other_rank")
"""Parts of a step in which it waits for other ranks or exchanges data with them."""


class Collectives(Struct, frozen=True, eq=False):
    """Collectives in order of start.

    Attributes:
        calls: Columns: ``kind`` (see ``trace.collectives.KINDS``), ``group`` (the process group's name,
            ``""`` where not recorded), ``group_size`` (null where not recorded), ``sequence`` (number in
            the group, null where not recorded), ``bytes`` (of the larger side of the message, null where
            not recorded), ``start_ns``, ``end_ns`` (the kernel's, or the host's range where the host
            carries it out), ``since_ns`` (end of the rank's collective before it in the same group,
            else start of the window, never after ``start_ns``), ``step`` (number of the step in which the
            host asked for it, null outside), ``is_startup`` (whether that step is start-up), ``exposed_ns`` (time
            of the call in which nothing else went on), ``first_ns`` (time of first calls of the host
            between ``since_ns`` and ``start_ns``; 0 where there are steps, because those that are filled by
            first calls are start-up).
        parts: Names of the parts of a step.
        before: Time of each part between ``since_ns`` and ``start_ns``, shape ``(calls, parts)``, ns.
        groups: Process groups that the header lists.
        on_device: Whether they are kernels.
    """

    calls: pl.DataFrame
    parts: tuple[str, ...]
    before: Ints
    groups: tuple[ProcessGroup, ...]
    on_device: bool


def run(trace: Trace) -> Collectives:
    """The device's communication kernels, else the collectives that the host carries out."""
    rows = _of_device(trace)
    on_device = len(rows) > 0
    if not on_device:
        rows = _of_host(trace.host)
    if not len(rows):
        none = np.zeros((0, 0), dtype=np.int64)
        return Collectives(pl.DataFrame(schema=SCHEMA), (), none, trace.meta.groups, on_device)
    rows = rows.sort("start_ns", "end_ns", "kind", maintain_order=True)
    windows = windows_of(trace)
    window = np.searchsorted(windows[:, 0], rows["start_ns"].to_numpy(), side="right") - 1
    opened = windows[np.maximum(window, 0), 0]
    since = pl.col("end_ns").cum_max().shift(1).over("group")
    rows = rows.with_columns(
        since_ns=pl.min_horizontal(
            "start_ns", pl.max_horizontal(since.fill_null(0), pl.Series(opened, dtype=pl.Int64))
        )
    )
    covers = part_covers(trace)
    spans = iv.pairs(rows["start_ns"].to_numpy(), rows["end_ns"].to_numpy())
    remote = [covers.parts.index(p) for p in REMOTE if p in covers.parts]
    exposed = covers.measure(spans)[:, remote].sum(axis=1)
    free = iv.pairs(rows["since_ns"].to_numpy(), rows["start_ns"].to_numpy())
    first = np.zeros(len(rows), dtype=np.int64)
    if not scope_of(trace).are_steps:
        first = iv.measure(first_calls(trace), free)
    rows = rows.with_columns(exposed_ns=pl.Series(exposed), first_ns=pl.Series(first))
    calls = _with_steps(rows, trace).select(*SCHEMA)
    return Collectives(calls, covers.parts, covers.measure(free), trace.meta.groups, on_device)


def _of_device(trace: Trace) -> pl.DataFrame:
    moving = trace.device.filter("is_communication")
    rows = moving.select(
        pl.coalesce("collective", pl.col("name").cast(pl.String)).alias("kind"),
        pl.col("group_name").fill_null("").alias("group"),
        "group_size",
        "sequence",
        pl.col("collective_elements").alias("bytes"),
        "collective_dtype",
        "start_ns",
        "end_ns",
        trace.host["start_ns"].gather(moving["launch"]).alias("asked_ns"),
    )
    size = _each(rows["collective_dtype"], element_bytes, pl.Int64)
    return rows.with_columns(
        kind=_each(rows["kind"], kind_of, pl.String), bytes=rows["bytes"] * size
    ).drop("collective_dtype")


def _of_host(host: pl.DataFrame) -> pl.DataFrame:
    found = call_names.matching(host, call_names.HOST_TRANSFER, call_names.RANGES)
    rows = host.filter(found).select(
        pl.col("name").cast(pl.String).alias("kind"),
        pl.lit("").alias("group"),
        pl.lit(None, pl.Int64).alias("group_size"),
        pl.lit(None, pl.Int64).alias("sequence"),
        pl.lit(None, pl.Int64).alias("bytes"),
        "start_ns",
        "end_ns",
        pl.lit(None, pl.Int64).alias("asked_ns"),
    )
    return rows.with_columns(kind=_each(rows["kind"], kind_of, pl.String))


def _each(
    column: pl.Series, function: Callable[[Any], object], dtype: type[pl.DataType]
) -> pl.Series:
    """A function of each distinct text."""
    known = column.unique().to_list()
    new = [function(text) for text in known]
    table = pl.DataFrame(
        {"old": pl.Series(known, dtype=pl.String), "new": pl.Series(new, dtype=dtype)}
    )
    joined = column.to_frame("old").join(
        table, on="old", how="left", nulls_equal=True, maintain_order="left"
    )
    return joined.get_column("new")


def _with_steps(rows: pl.DataFrame, trace: Trace) -> pl.DataFrame:
    """The step in which the host asked for each call; between two steps, the one before.

    The device runs behind the host, so that its own times would often name the next step. Behind the
    last step of a window, calls within the length of a step still belong to it.
    """
    scope = scope_of(trace)
    asked = rows.select(pl.coalesce("asked_ns", "start_ns")).to_series().to_numpy()
    starts, ends = scope.bounds[:, 0], scope.bounds[:, 1]
    at = np.searchsorted(starts, asked, side="right") - 1
    step = np.maximum(at, 0)
    reach = ends + int(np.median(scope.lengths_ns))
    known = (at >= 0) & (asked < reach[step]) & scope.are_steps
    number = pl.Series(scope.numbers[step], dtype=pl.Int64)
    return rows.with_columns(
        step=pl.when(pl.Series(known)).then(number),
        is_startup=pl.Series(known & scope.is_startup[step]),
    )


ANALYSIS = Analysis("collectives", run, "Every collective and what the rank did before it.")
