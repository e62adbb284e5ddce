"""The bars of one typical step, for drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.analysis.base import Analysis
from stepscope.schema.report import Lane, Span, Timeline
from stepscope.trace import call_names
from stepscope.trace.nesting import nest
from stepscope.trace.scope import Scope, scope_of
from stepscope.trace.training_thread import training_thread
from stepscope.units import NS_PER_US, ns_to_ms

if TYPE_CHECKING:
    from stepscope.trace.model import Trace

MOST_BARS = 4000
"""More bars than this make a page slow and cannot be told apart."""


def run(trace: Trace) -> Timeline | None:
    """The median steady step; ``None`` where it holds nothing to draw.

    The longest bars are kept and the others counted per lane. Python frames are left out where
    operators tell the same story in fewer levels.
    """
    scope = scope_of(trace)
    row = _typical(scope)
    start, end = scope.bounds[row].tolist()
    host, device = _inside(_host_rows(trace.host), start, end), _inside(trace.device, start, end)
    room = max(MOST_BARS - len(host), MOST_BARS // 2)
    device_kept = _longest(device, room)
    host_kept = _longest(host, MOST_BARS - len(device_kept))
    main = training_thread(trace.host)
    lanes = [
        *_lanes(host, host_kept, ("pid", "tid"), (main.pid, main.tid) if main else None, start),
        *_lanes(device, device_kept, ("device", "stream"), None, start),
    ]
    if not lanes:
        return None
    number = int(scope.numbers[row]) if scope.are_steps else None
    return Timeline(step=number, duration_ms=ns_to_ms(end - start), lanes=tuple(lanes))


def _typical(scope: Scope) -> int:
    """Position of the step of median length among the steady ones, else among all."""
    rows = np.flatnonzero(scope.is_steady if scope.is_steady.any() else ~scope.is_steady)
    by_length = rows[np.argsort(scope.lengths_ns[rows], kind="stable")]
    return int(by_length[(len(by_length) - 1) // 2])


def _host_rows(host: pl.DataFrame) -> pl.DataFrame:
    python = call_names.of_kind(host, "python")
    told = call_names.of_kind(host, "operator").any()
    return host.filter(pl.Series(~python)) if told and len(host) else host


def _inside(frame: pl.DataFrame, start: int, end: int) -> pl.DataFrame:
    """Rows that touch the step, cut at its edges, with their lengths."""
    cut = frame.filter((pl.col("end_ns") > start) & (pl.col("start_ns") < end)).with_columns(
        pl.col("start_ns").clip(start, end), pl.col("end_ns").clip(start, end)
    )
    return cut.with_columns(length=pl.col("end_ns") - pl.col("start_ns"))


def _longest(frame: pl.DataFrame, count: int) -> pl.DataFrame:
    return frame.sort("length", descending=True, maintain_order=True).head(count).sort("start_ns")


def _lanes(
    frame: pl.DataFrame,
    kept: pl.DataFrame,
    keys: tuple[str, str],
    main: tuple[int, int] | None,
    start: int,
) -> list[Lane]:
    """One lane per thread or stream, the training thread first."""
    counts = frame.group_by(keys).len().sort(keys)
    lanes: list[Lane] = []
    for one, other, count in counts.iter_rows():
        rows = kept.filter((pl.col(keys[0]) == one) & (pl.col(keys[1]) == other))
        spans = _spans(rows, start)
        label = f"thread {other}" if keys[0] == "pid" else f"GPU {one} stream {other}"
        is_main = main == (one, other)
        lane = Lane(
            label=f"{label} (training)" if is_main else label,
            is_device=keys[0] == "device",
            spans=spans,
            hidden=count - len(spans),
        )
        lanes.insert(0, lane) if is_main else lanes.append(lane)
    return lanes


def _spans(rows: pl.DataFrame, start: int) -> tuple[Span, ...]:
    rows = rows.sort("start_ns", "length", descending=[False, True], maintain_order=True)
    begin, end = rows["start_ns"].to_numpy(), rows["end_ns"].to_numpy()
    depth, _, _ = nest(np.zeros(len(rows), np.int64), begin, end)
    kind = rows["kind"].cast(pl.String)
    if "is_communication" in rows.columns:
        kind = rows.select(
            pl.when("is_communication").then(pl.lit("communication")).otherwise(kind)
        ).to_series()
    columns = zip(
        rows["name"].cast(pl.String).to_list(),
        ((begin - start) / NS_PER_US).tolist(),
        ((end - begin) / NS_PER_US).tolist(),
        depth.tolist(),
        kind.to_list(),
        strict=True,
    )
    return tuple(
        Span(name=name, start_us=at, duration_us=length, depth=level, kind=sort)
        for name, at, length, level, sort in columns
    )


ANALYSIS = Analysis("timeline", run, "The bars of one typical step.")
