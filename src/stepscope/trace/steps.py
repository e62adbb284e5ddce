"""Where one training step ends and the next begins, and which of them are start-up.

Steps come from ``ProfilerStep#N`` where it was recorded, else from the optimizer, else from the
DataLoader, else from a range that repeats; otherwise the whole window stands for the step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import Struct

from stepscope.schema.tables import STEPS
from stepscope.trace.call_names import PROFILER_STEP
from stepscope.trace.loader_names import LOADER_WAIT
from stepscope.trace.matching import matches
from stepscope.trace.tables import DTYPES

if TYPE_CHECKING:
    from stepscope.schema.report import StepSource

OPTIMIZER_STEP = r"^Optimizer\.step#"
REPEATING = r"(?i)^(\W*)(train|training|iteration|iter|batch|step|forward|generate|decode|execute|inference)"
REPEATS = 3
"""A range has to come back this often to be taken for a step."""

LASTS = pl.col("end_ns") > pl.col("start_ns")

Pairs = npt.NDArray[np.int64]


class FoundSteps(Struct, frozen=True):
    """Steps of one file.

    Attributes:
        source: What they were found by.
        table: Table STEPS, ``is_startup`` not decided yet.
    """

    source: StepSource
    table: pl.DataFrame


def find(host: pl.DataFrame, start_ns: int, end_ns: int) -> FoundSteps:
    """The steps of a file.

    Args:
        host: Table HOST with the column ``is_open``.
        start_ns, end_ns: Extent of the file's window.
    """
    ranges = host.select("kind", "name", "pid", "tid", "start_ns", "end_ns", "is_open").filter(
        _matching(host, "kind", "^(annotation|operator)$")
    )
    marked = ranges.filter(_matching(ranges, "name", PROFILER_STEP) & LASTS)
    if len(marked):
        return FoundSteps("profiler-step", _profiler_steps(marked))
    waits = _pairs(_outermost(ranges.filter(_matching(ranges, "name", LOADER_WAIT))))
    updates = _pairs(_main_optimizer(ranges))
    if len(updates) >= 2 and 0 <= len(waits) - len(updates) <= 1:
        # One batch an update: a step runs from asking for a batch to asking for the next.
        return FoundSteps("optimizer", _from_starts(waits[:, 0], _last_end(ranges), len(updates)))
    if len(updates) >= 2:
        return FoundSteps("optimizer", _from_ends(updates[:, 1], start_ns))
    if len(waits) >= 2:
        return FoundSteps("dataloader", _from_starts(waits[:, 0], _last_end(ranges), len(waits)))
    repeating = _repeating(ranges, end_ns - start_ns)
    if len(repeating):
        return FoundSteps("annotation", _table(_pairs(repeating)))
    return FoundSteps("window", _table(np.empty((0, 2), np.int64)))


def _matching(frame: pl.DataFrame, column: str, pattern: str) -> pl.Series:
    return pl.Series(matches(frame[column], pattern), dtype=pl.Boolean)


def _profiler_steps(marked: pl.DataFrame) -> pl.DataFrame:
    number = pl.col("name").cast(pl.String).str.extract(PROFILER_STEP, 1).cast(pl.Int64)
    marked = (
        marked.with_columns(number.alias("number"))
        .unique(["number", "start_ns"], keep="first", maintain_order=True)
        .sort("start_ns")
    )
    pairs = _pairs(marked)
    # Two threads may mark the same step, and clocks overlap by a nanosecond: steps never overlap.
    keep = np.ones(len(pairs), bool)
    reached = np.maximum.accumulate(pairs[:, 1])
    keep[1:] = pairs[1:, 1] > reached[:-1]
    pairs[1:, 0] = np.maximum(pairs[1:, 0], reached[:-1])
    return _table(
        pairs[keep],
        number=marked["number"].to_numpy()[keep],
        partial=marked["is_open"].to_numpy()[keep],
    )


def _main_optimizer(ranges: pl.DataFrame) -> pl.DataFrame:
    """Calls of the optimizer that steps least often: several optimizers take turns within one step."""
    calls = _outermost(ranges.filter(_matching(ranges, "name", OPTIMIZER_STEP)))
    if not len(calls):
        return calls
    counts = calls.group_by("name").agg(pl.len().alias("n"), pl.col("start_ns").max().alias("last"))
    name = counts.filter(pl.col("n") >= 2).sort("n", pl.col("last") * -1)["name"]
    return calls.filter(pl.col("name") == name[0]) if len(name) else calls.clear()


def _repeating(ranges: pl.DataFrame, window_ns: int) -> pl.DataFrame:
    """The range whose repetitions fill most of the window, when they fill over half of it."""
    name = pl.col("name").cast(pl.String)
    named = ranges.filter(
        _matching(ranges, "kind", "^annotation$") & _matching(ranges, "name", REPEATING)
    ).with_columns(name.str.replace_all(r"\d+", "#").alias("shape"))
    if not len(named):
        return named
    best = (
        named.group_by("shape", "pid", "tid")
        .agg(pl.len().alias("n"), (pl.col("end_ns") - pl.col("start_ns")).sum().alias("total"))
        .filter((pl.col("n") >= REPEATS) & (pl.col("total") * 2 > window_ns))
        .sort("total", "shape", descending=[True, False])
    )
    if not len(best):
        return named.clear()
    shape, pid, tid = best.select("shape", "pid", "tid").row(0)
    chosen = named.filter(
        (pl.col("shape") == shape) & (pl.col("pid") == pid) & (pl.col("tid") == tid)
    )
    return _outermost(chosen)


def _outermost(frame: pl.DataFrame) -> pl.DataFrame:
    """Without the ranges that lie inside an earlier one."""
    if not len(frame):
        return frame
    reached = pl.col("end_ns").cum_max().shift(1)
    return frame.sort("start_ns", pl.col("end_ns") * -1).filter(
        reached.is_null() | (pl.col("start_ns") >= reached)
    )


def _pairs(frame: pl.DataFrame) -> Pairs:
    return frame.select("start_ns", "end_ns").to_numpy().astype(np.int64)


def _last_end(ranges: pl.DataFrame) -> int:
    """End of the last operator or annotation: the profiler's closing calls are no part of a step."""
    return int(ranges.select(pl.col("end_ns").max()).item())


def _from_starts(starts: Pairs, end_ns: int, count: int) -> pl.DataFrame:
    edges = np.append(starts, max(end_ns, int(starts[-1])))[: count + 1]
    return _table(np.column_stack([edges[:-1], edges[1:]]))


def _from_ends(ends: Pairs, start_ns: int) -> pl.DataFrame:
    edges = np.append(min(start_ns, int(ends[0])), ends)
    partial = np.zeros(len(ends), bool)
    partial[0] = True
    return _table(np.column_stack([edges[:-1], edges[1:]]), partial=partial)


def _table(
    pairs: Pairs, number: Pairs | None = None, partial: npt.NDArray[np.bool_] | None = None
) -> pl.DataFrame:
    count = len(pairs)
    return pl.DataFrame(
        {
            "number": np.arange(count) if number is None else number,
            "window": np.zeros(count, np.int64),
            "start_ns": pairs[:, 0],
            "end_ns": pairs[:, 1],
            "is_startup": np.zeros(count, bool),
            "is_partial": np.zeros(count, bool) if partial is None else partial,
        },
        schema={c.name: DTYPES[c.dtype] for c in STEPS.columns},
    )
