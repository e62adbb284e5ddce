"""From raw columns to the checked tables ``HOST``, ``DEVICE`` and ``MEMORY`` of one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from stepscope.schema import tables
from stepscope.trace.collectives import COMMUNICATION
from stepscope.trace.links import link
from stepscope.trace.nesting import nest

if TYPE_CHECKING:
    from stepscope.schema.column import Table
    from stepscope.trace.columns import Columns

DTYPES: dict[str, pl.DataType] = {
    "i64": pl.Int64(),
    "f64": pl.Float64(),
    "bool": pl.Boolean(),
    "str": pl.String(),
    "cat": pl.Categorical(),
}
KIND_ORDER = {"annotation": 0, "operator": 1, "runtime": 2, "driver": 3, "python": 4, "other": 5}
SEVEN_DAYS_NS = 7 * 24 * 3600 * 10**9


@dataclass(frozen=True, slots=True)
class Dropped:
    """Events that no table can hold, by reason.

    Attributes:
        no_time: Without a start or with one that is no number.
        zero_time: Start 0 (and so no place on the clock) where the others are far from 0.
        negative: Negative duration.
        absurd: Duration over seven days.
        clipped: Device work shortened because it overran several successors on its stream.
    """

    no_time: int = 0
    zero_time: int = 0
    negative: int = 0
    absurd: int = 0
    clipped: int = 0

    @property
    def total(self) -> int:
        """Events dropped, without the clipped."""
        return self.no_time + self.zero_time + self.negative + self.absurd

    def __add__(self, other: Dropped) -> Dropped:
        return Dropped(
            self.no_time + other.no_time,
            self.zero_time + other.zero_time,
            self.negative + other.negative,
            self.absurd + other.absurd,
            self.clipped + other.clipped,
        )


@dataclass(frozen=True, slots=True)
class FileTables:
    """The tables of one file.

    Attributes:
        host, device, memory: As in ``schema.tables``; host has one column more, ``is_open``: the range
            had no end when the recording stopped.
        dropped: What they do not hold.
    """

    host: pl.DataFrame
    device: pl.DataFrame
    memory: pl.DataFrame
    dropped: Dropped


def empty(table: Table) -> pl.DataFrame:
    """An empty frame of a table's form."""
    return pl.DataFrame(schema={c.name: DTYPES[c.dtype] for c in table.columns})


def build(columns: Columns, base_ns: int) -> FileTables:
    """The tables of a file.

    Args:
        columns: Its raw columns.
        base_ns: Nanoseconds to add to every time.
    """
    host, lost_host = _timed(columns.host, base_ns)
    device, lost_device = _timed(columns.device, base_ns)
    host = (
        _host(host) if len(host) else empty(tables.HOST).with_columns(is_open=pl.lit(value=False))
    )
    clipped = 0
    if len(device):
        device, clipped = _clip_overruns(_device(device))
        device = link(host, device)
    else:
        device = empty(tables.DEVICE)
    return FileTables(
        host=host,
        device=device.select([c.name for c in tables.DEVICE.columns]),
        memory=_memory(columns.memory, base_ns),
        dropped=lost_host + lost_device + Dropped(clipped=clipped),
    )


def _timed(frames: list[pl.DataFrame], base_ns: int) -> tuple[pl.DataFrame, Dropped]:
    """All chunks in one frame with ``start_ns`` and ``end_ns``; what has no usable time is dropped."""
    if not frames:
        return pl.DataFrame(), Dropped()
    frame = pl.concat(frames)
    frames.clear()
    no_time = pl.col("start_ns").is_null()
    middle = frame.select(pl.col("start_ns").cast(pl.Float64).median()).item()
    far = middle is not None and middle > 10**9
    zero = (pl.col("start_ns") == 0) & far
    negative = pl.col("dur_ns") < 0
    absurd = pl.col("dur_ns") > SEVEN_DAYS_NS
    counts = frame.select(
        no_time.sum().alias("no_time"),
        zero.sum().alias("zero_time"),
        (negative & ~zero).sum().alias("negative"),
        (absurd & ~zero).sum().alias("absurd"),
    ).row(0, named=True)
    kept = frame.filter(
        ~no_time & ~zero.fill_null(value=False) & ~(negative | absurd).fill_null(value=False)
    )
    start = pl.col("start_ns") + base_ns
    kept = kept.with_columns(
        start.alias("start_ns"), (start + pl.col("dur_ns").fill_null(0)).alias("end_ns")
    ).drop("dur_ns")
    return kept, Dropped(**counts)


def _host(frame: pl.DataFrame) -> pl.DataFrame:
    order = pl.col("kind").cast(pl.String).replace_strict(KIND_ORDER, return_dtype=pl.Int8)
    frame = frame.with_columns(order.alias("kind_order")).sort(
        "start_ns",
        pl.col("end_ns") * -1,
        "event_index",
        "external_id",
        "kind_order",
        pl.col("name").cast(pl.String),
        "pid",
        "tid",
        "correlation",
        nulls_last=True,
    )
    frame = frame.with_columns(pl.col("pid").fill_null(-1), pl.col("tid").fill_null(-1))
    thread = frame.select(pl.struct("pid", "tid").rank("dense").cast(pl.Int64))["pid"].to_numpy()
    # Python frames and the profiler's own overhead lie across operators; they nest apart.
    apart = frame["kind_order"].is_in([4, 5]).to_numpy()
    depth, parent, own = nest(
        thread * 2 + apart, frame["start_ns"].to_numpy(), frame["end_ns"].to_numpy()
    )
    frame = frame.with_columns(
        pl.Series("depth", depth),
        pl.Series("parent", parent).replace(-1, None),
        pl.Series("self_ns", own),
    )
    return frame.select([c.name for c in tables.HOST.columns] + ["is_open"])


def _device(frame: pl.DataFrame) -> pl.DataFrame:
    name = pl.col("name").cast(pl.String)
    copy = pl.col("kind") == "memcpy"
    tidy = (
        name.str.replace_all("(?i)host", "H").str.replace_all("(?i)device", "D").str.to_uppercase()
    )
    direction = (
        tidy.str.extract(r"\b([HDP])\s*TO\s*([HDP])\b", 1)
        + pl.lit("to")
        + tidy.str.extract(r"\b([HDP])\s*TO\s*([HDP])\b", 2)
    )
    arrow = (
        tidy.str.extract(r"\(([HDP])\w*\s*->", 1)
        + pl.lit("to")
        + tidy.str.extract(r"->\s*([HDP])", 1)
    )
    return frame.with_columns(
        pl.col("device").fill_null(-1),
        pl.col("stream").fill_null(-1),
        (
            (pl.col("kind") == "kernel")
            & (pl.col("collective").is_not_null() | name.str.contains(COMMUNICATION))
        )
        .fill_null(value=False)
        .alias("is_communication"),
        pl.when(copy).then(pl.coalesce(direction, arrow)).cast(pl.Categorical).alias("direction"),
        pl.when(copy)
        .then(
            pl.when(name.str.contains("(?i)pageable"))
            .then(statement=True)
            .when(name.str.contains("(?i)pinned"))
            .then(statement=False)
        )
        .alias("is_pageable"),
    ).sort("start_ns", "device", "stream", "end_ns", name, "correlation", nulls_last=True)


OVERRUN_NS = 100_000
OVERRUN_SUCCESSORS = 4


def _clip_overruns(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Shortens work that overruns the start of its fourth successor on the stream by over 100 µs.

    Kernels of one stream overlap by microseconds for good reasons (programmatic dependent launch,
    graphs); durations of seconds across many successors are overflows of the vendor's clock.
    """
    later = pl.col("start_ns").shift(-OVERRUN_SUCCESSORS).over("device", "stream")
    following = pl.col("start_ns").shift(-1).over("device", "stream")
    frame = frame.with_columns(
        (pl.col("end_ns") - later > OVERRUN_NS).fill_null(value=False).alias("overruns")
    )
    count = int(frame["overruns"].sum())
    if count:
        frame = frame.with_columns(
            pl.when("overruns").then(following).otherwise(pl.col("end_ns")).alias("end_ns")
        )
    return frame.drop("overruns"), count


def _memory(frames: list[pl.DataFrame], base_ns: int) -> pl.DataFrame:
    if not frames:
        return empty(tables.MEMORY)
    names = [c.name for c in tables.MEMORY.columns]
    return (
        pl.concat(frames)
        .drop_nulls(["time_ns", "device_type", "bytes"])
        .with_columns(pl.col("time_ns") + base_ns, pl.col("device_id").fill_null(-1))
        .sort("time_ns", "device_type", "device_id", "total_allocated_bytes", "bytes")
        .select(names)
    )
