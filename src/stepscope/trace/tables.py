"""From raw columns to the checked tables ``HOST``, ``DEVICE`` and ``MEMORY`` of one file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.schema import tables
from stepscope.schema.tables import DEVICE_KINDS, HOST_KINDS
from stepscope.trace import flows, matching, overruns
from stepscope.trace.collectives import COMMUNICATION
from stepscope.trace.events import ABSENT
from stepscope.trace.links import count_by_flow, link
from stepscope.trace.nesting import nest
from stepscope.trace.order import sorted_rows
from stepscope.trace.timed import Dropped, Timed, timed

if TYPE_CHECKING:
    from stepscope.schema.column import Table
    from stepscope.trace.columns import Columns
    from stepscope.trace.rows import Column, Rows
    from stepscope.trace.timed import Ints
    from stepscope.trace.words import Words

DTYPES: dict[str, pl.DataType] = {
    "i64": pl.Int64(),
    "f64": pl.Float64(),
    "bool": pl.Boolean(),
    "str": pl.String(),
    "cat": pl.Categorical(),
}
KIND_ORDER = {"annotation": 0, "operator": 1, "runtime": 2, "driver": 3, "python": 4, "other": 5}
APART = ("python", "other")
"""Python frames and the profiler's own overhead lie across operators; they nest apart."""


class FileTables(Struct, frozen=True):
    """The tables of one file.

    Attributes:
        host, device, memory: As in ``schema.tables``; host has one column more, ``is_open``: the range
            had no end when the recording stopped.
        dropped: What they do not hold.
        by_flow: Device work that was linked to its launch by a flow event.
    """

    host: pl.DataFrame
    device: pl.DataFrame
    memory: pl.DataFrame
    dropped: Dropped
    by_flow: int


def empty(table: Table) -> pl.DataFrame:
    """An empty frame of a table's form."""
    return pl.DataFrame(schema={c.name: DTYPES[c.dtype] for c in table.columns})


def build(columns: Columns, base_ns: int) -> FileTables:
    """The tables of a file; its raw columns are given up on the way.

    Args:
        columns: Its raw columns.
        base_ns: Nanoseconds to add to every time.
    """
    texts = _Texts(columns)
    host_times, device_times = timed(columns.host, base_ns), timed(columns.device, base_ns)
    host_end = int(host_times.end.max()) if host_times.count else None
    with ThreadPoolExecutor(1, "stepscope-tables") as pool:
        # Sorting and joining need no lock of the interpreter, so that two cores do it side by side.
        clipping = pool.submit(_clipped, columns.device, device_times, texts, host_end)
        host = _host(columns.host, host_times, texts) if host_times.count else _no_host()
        memory = _memory(columns.memory, base_ns)
        device, clipped = clipping.result()
    by_flow = 0
    if len(device):
        device = link(host, device, partial(flows.arrows, columns.flows, base_ns))
        by_flow = count_by_flow(host, device)
    return FileTables(
        host=host,
        device=device.select([c.name for c in tables.DEVICE.columns]),
        memory=memory,
        dropped=host_times.dropped + device_times.dropped + Dropped(clipped=clipped),
        by_flow=by_flow,
    )


def _clipped(
    rows: Rows, times: Timed, texts: _Texts, host_end_ns: int | None
) -> tuple[pl.DataFrame, int]:
    """Device work, without links, and how much of it was shortened."""
    if not times.count:
        return empty(tables.DEVICE), 0
    return overruns.clip(_device(rows, times, texts), host_end_ns)


def _no_host() -> pl.DataFrame:
    return empty(tables.HOST).with_columns(is_open=pl.lit(value=False))


class _Texts:
    """The dictionaries of a file as table columns."""

    def __init__(self, columns: Columns) -> None:
        self._names = _dictionary(columns.names)
        self._categories = self._names.cast(pl.Categorical)
        self._shapes = _compact(columns.shapes)

    def names(self, codes: Column) -> pl.Series:
        """Dictionary-encoded."""
        return self._categories.gather(codes)

    def texts(self, codes: Column) -> pl.Series:
        """Plain, null where there is none."""
        return _gather(self._names, codes)

    def shapes(self, codes: Column) -> pl.Series:
        """JSON text, null where there is none."""
        return _gather(self._shapes, codes)

    def ranks(self, codes: Column) -> Ints:
        """The place of each name in alphabetical order."""
        place = np.empty(max(len(self._names), 1), np.int64)
        place[self._names.arg_sort().to_numpy()] = np.arange(len(self._names))
        found: Ints = place[codes]
        return found


def _dictionary(words: Words) -> pl.Series:
    return pl.Series(list(words), dtype=pl.String)


def _compact(words: Words) -> pl.Series:
    """JSON text in one layout, so that the same shapes read alike however they were indented."""
    texts = []
    for text in words:
        try:
            texts.append(msgspec.json.format(text, indent=0))
        except msgspec.DecodeError:
            texts.append(text)
    return pl.Series(texts, dtype=pl.String)


def _gather(dictionary: pl.Series, codes: Column) -> pl.Series:
    if not len(dictionary):
        return pl.Series([None], dtype=pl.String).new_from_index(0, len(codes))
    absent = codes < 0
    found = dictionary.gather(np.where(absent, 0, codes))
    if not absent.any():
        return found
    return found.to_frame("t").select(pl.when(~pl.Series(absent)).then(pl.col("t")))["t"]


def whole(column: Column) -> pl.Series:
    """Whole numbers with nulls where they are absent."""
    series = pl.Series(column)
    absent = column == ABSENT
    if not absent.any():
        return series
    return series.to_frame("t").select(pl.when(~pl.Series(absent)).then(pl.col("t")))["t"]


def _fraction(column: Column) -> pl.Series:
    return pl.Series(column, nan_to_null=True)


def _kinds(codes: Column, kinds: tuple[str, ...]) -> pl.Series:
    return pl.Series(kinds, dtype=pl.Categorical).gather(codes)


def _host(rows: Rows, times: Timed, texts: _Texts) -> pl.DataFrame:
    def take(name: str) -> Column:
        return times.kept(rows.take(name))

    kind, name = take("kind"), take("name")
    pid, tid = take("pid"), take("tid")
    pid[pid == ABSENT], tid[tid == ABSENT] = -1, -1
    ids = {n: take(n) for n in ("correlation", "external_id", "event_index", "sequence")}
    kind_order = np.array([KIND_ORDER[k] for k in HOST_KINDS], np.int8)[kind]
    order = sorted_rows(
        [times.start, -times.end, _last(ids["event_index"]), _last(ids["external_id"])],
        lambda: [kind_order, texts.ranks(name), pid, tid, ids["correlation"], ids["sequence"]],
    )
    start, end = times.start[order], times.end[order]
    pid, tid, kind = pid[order], tid[order], kind[order]
    apart = np.isin(kind, [HOST_KINDS.index(k) for k in APART])
    depth, parent, own = nest(_threads(pid, tid) * 2 + apart, start, end)
    columns: dict[str, pl.Series] = {
        "kind": _kinds(kind, HOST_KINDS),
        "name": texts.names(name[order]),
        "pid": pl.Series(pid),
        "tid": pl.Series(tid),
        "start_ns": pl.Series(start),
        "end_ns": pl.Series(end),
        "parent": whole(np.where(parent < 0, ABSENT, parent)),
        "depth": pl.Series(depth),
        "self_ns": pl.Series(own),
        "correlation": whole(ids["correlation"][order]),
        "external_id": whole(ids["external_id"][order]),
        "sequence": whole(ids["sequence"][order]),
        "forward_thread": whole(take("forward_thread")[order]),
        "input_dims": texts.shapes(take("input_dims")[order]),
        "input_types": texts.shapes(take("input_types")[order]),
        "is_open": pl.Series(take("is_open")[order]),
    }
    return pl.DataFrame(columns)


def _last(ids: Column) -> Column:
    """Absent ids sort behind all others."""
    return np.where(ids == ABSENT, np.iinfo(np.int64).max, ids)


def _threads(pid: Column, tid: Column) -> Ints:
    """A number for each thread, shape of ``pid``."""
    process, thread = _numbered(pid), _numbered(tid)
    found: Ints = process * (int(thread.max()) + 1) + thread
    return found


def _numbered(ids: Column) -> Ints:
    """The place of each id among the distinct ones; neighbours are mostly equal, and sorted as one."""
    first = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    _, number = np.unique(ids[first], return_inverse=True)
    return np.repeat(number.astype(np.int64), np.diff(np.append(first, len(ids))))


def _device(rows: Rows, times: Timed, texts: _Texts) -> pl.DataFrame:
    def take(name: str) -> Column:
        return times.kept(rows.take(name))

    kind, name = take("kind"), take("name")
    device, stream, correlation = take("device"), take("stream"), take("correlation")
    device[device == ABSENT], stream[stream == ABSENT] = -1, -1
    order = sorted_rows(
        [times.start, device, stream, times.end],
        lambda: [texts.ranks(name), correlation, kind],
    )
    columns: dict[str, pl.Series] = {
        "kind": _kinds(kind[order], DEVICE_KINDS),
        "name": texts.names(name[order]),
        "device": pl.Series(device[order]),
        "stream": pl.Series(stream[order]),
        "start_ns": pl.Series(times.start[order]),
        "end_ns": pl.Series(times.end[order]),
        "correlation": whole(correlation[order]),
    }
    for key in ("external_id", "bytes", "blocks", "threads_per_block"):
        columns[key] = whole(take(key)[order])
    for key in ("blocks_per_sm", "warps_per_sm", "occupancy_percent"):
        columns[key] = _fraction(take(key)[order])
    for key in ("collective", "collective_dtype", "group_name"):
        columns[key] = texts.texts(take(key)[order])
    for key in ("collective_elements", "group_size", "sequence"):
        columns[key] = whole(take(key)[order])
    return _named(pl.DataFrame(columns))


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """What names tell: communication, the direction of copies, the kind of the host's memory."""
    copy = pl.col("kind") == "memcpy"
    is_kernel = pl.col("kind") == "kernel"
    name = frame["name"]
    talks = pl.Series(matching.matches(name, COMMUNICATION))
    pageable = pl.Series(matching.matches(name, "(?i)pageable"))
    pinned = pl.Series(matching.matches(name, "(?i)pinned"))
    return frame.with_columns(
        (is_kernel & (pl.col("collective").is_not_null() | talks)).alias("is_communication"),
        pl.when(copy).then(matching.mapped(name, _direction, pl.Categorical)).alias("direction"),
        pl.when(copy & pageable)
        .then(statement=True)
        .when(copy & pinned)
        .then(statement=False)
        .alias("is_pageable"),
    )


def _direction(name: pl.Series) -> pl.Series:
    """From where to where a copy goes, for instance ``HtoD``; null where the name does not tell."""
    tidy = (
        name.str.replace_all("(?i)host", "H").str.replace_all("(?i)device", "D").str.to_uppercase()
    )
    frame = tidy.to_frame("t")
    text = pl.col("t")
    to = r"\b([HDP])\s*TO\s*([HDP])\b"
    words = text.str.extract(to, 1) + pl.lit("to") + text.str.extract(to, 2)
    arrow = (
        text.str.extract(r"\(([HDP])\w*\s*->", 1)
        + pl.lit("to")
        + text.str.extract(r"->\s*([HDP])", 1)
    )
    return frame.select(pl.coalesce(words, arrow).alias("t"))["t"]


def _memory(rows: Rows, base_ns: int) -> pl.DataFrame:
    if not rows.count:
        return empty(tables.MEMORY)
    names = [c.name for c in tables.MEMORY.columns]
    frame = (
        pl.DataFrame({name: whole(rows.take(name)) for name in names})
        .drop_nulls(["time_ns", "device_type", "bytes"])
        .with_columns(pl.col("time_ns") + base_ns, pl.col("device_id").fill_null(-1))
    )
    if (np.diff(frame["time_ns"].to_numpy()) > 0).all():
        return frame
    return frame.sort(
        "time_ns",
        "device_type",
        "device_id",
        "total_allocated_bytes",
        "bytes",
        nulls_last=True,
        maintain_order=True,
    )
