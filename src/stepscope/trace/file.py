"""One trace file: its text read into checked tables, with what was found wrong on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from stepscope.errors import NotATraceError
from stepscope.trace import startup, steps
from stepscope.trace.model import Device, Window
from stepscope.trace.reading import read_text
from stepscope.trace.tables import FileTables, build
from stepscope.trace.timed import Timed, middle_of, timed

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.trace.columns import Columns
    from stepscope.trace.header import Header
    from stepscope.trace.repair import Repairs

EPOCH_US = 10**14
"""Microseconds above this count from 1970; below, from an origin that the header has to state."""


class TraceFile(Struct, frozen=True):
    """What one file holds.

    Attributes:
        path: As given.
        header: Keys around the list of events.
        tables: Host, device and memory.
        found: Its steps and their source.
        window: Its extent; the profiler's own span when nothing else was recorded.
        clock: ``epoch`` or ``relative``.
        complete: Events with a duration.
        python: Python frames in it.
        unknown: Events by category that is not known.
        long_names: Names that were cut.
        collective_rank: The rank that a collective's arguments name.
        truncated: The text or the compressed stream ends before its time.
        lost_bytes: Text at the end that held no whole event.
        trailing_junk: Bytes behind the compressed trace that are something else.
        repairs: What was mended and lost in broken text.
    """

    path: str
    header: Header
    tables: FileTables
    found: steps.FoundSteps
    window: Window
    clock: str
    complete: int
    python: int
    unknown: dict[str, int]
    long_names: int
    collective_rank: int | None
    truncated: bool
    lost_bytes: int
    trailing_junk: int
    repairs: Repairs


def read(
    path: str, *, with_python: bool = False, told: Callable[[int], None] | None = None
) -> TraceFile:
    """Reads a trace file.

    Args:
        path: File to read, ``-`` for standard input.
        with_python: Whether to keep Python frames (often most of the events).
        told: Called with the bytes of the file read so far, from any thread.

    Raises:
        InputError: It cannot be read, is something else, or holds no complete event.
    """
    text = read_text(path, with_python=with_python, told=told)
    columns, header = text.columns, text.header
    if columns.complete == 0:
        raise NotATraceError(
            "holds no complete event (no event with a duration)",
            path=path,
            way_out="profile a stretch of code in which PyTorch works, and stop the profiler before exporting",
        )
    _refuse_other_programs(path, header, columns)
    base_ns, clock = _clock(header, columns)
    spans = timed(columns.spans, base_ns)
    built = build(columns, base_ns)
    window = _window(path, built, spans, base_ns)
    found = steps.find(built.host, window.start_ns, window.end_ns)
    return TraceFile(
        path=path,
        header=header,
        tables=built,
        found=steps.FoundSteps(found.source, startup.mark(found.table, built.host, built.device)),
        window=window,
        clock=clock,
        complete=columns.complete,
        python=columns.python,
        unknown=columns.unknown,
        long_names=len(columns.names.cut),
        collective_rank=columns.rank,
        truncated=text.truncated,
        lost_bytes=text.lost_bytes,
        trailing_junk=text.trailing_junk,
        repairs=text.repairs,
    )


def _refuse_other_programs(path: str, header: Header, columns: Columns) -> None:
    """A Chrome trace of something other than PyTorch has none of the categories that it writes."""
    strange = sum(columns.unknown.values())
    if strange < columns.complete or header.keys & {
        "schemaVersion",
        "deviceProperties",
        "distributedInfo",
    }:
        return
    raise NotATraceError(
        "is a Chrome trace, but none of its events come from PyTorch's profiler",
        path=path,
        way_out="give a trace that torch.profiler exported with export_chrome_trace",
    )


def _clock(header: Header, columns: Columns) -> tuple[int, str]:
    """Nanoseconds to add to every time, and whether the result counts from 1970."""
    if header.base_ns is not None:
        return header.base_ns, "epoch"
    for rows in (columns.host, columns.device, columns.spans):
        if rows.count:
            is_epoch = middle_of(rows.peek("start_ns")) > EPOCH_US * 1000
            return 0, "epoch" if is_epoch else "relative"
    return 0, "relative"


def _window(path: str, built: FileTables, spans: Timed, base_ns: int) -> Window:
    """From the first to the last event; the profiler's own span when there is no other."""
    tables = [frame for frame in (built.host, built.device) if len(frame)]
    if tables:
        starts = [frame["start_ns"].to_numpy().min() for frame in tables]
        ends = [frame["end_ns"].to_numpy().max() for frame in tables]
        return Window(path, int(min(starts)), int(max(ends)))
    if spans.count:
        return Window(path, int(spans.start.min()), int(spans.end.max()))
    return Window(path, base_ns, base_ns)


def devices(header: Header) -> tuple[Device, ...]:
    """The devices that the header lists; entries that are no objects are passed over."""
    listed = header.values.get("deviceProperties")
    if not isinstance(listed, list):
        return ()
    return tuple(
        _device(number, entry) for number, entry in enumerate(listed) if isinstance(entry, dict)
    )


def _device(number: int, entry: dict[str, Any]) -> Device:
    def whole(*keys: str) -> int | None:
        for key in keys:
            value = entry.get(key)
            if type(value) is int and value > 0:
                return value
        return None

    major, minor = entry.get("computeMajor"), entry.get("computeMinor")
    name = entry.get("name")
    identity = entry.get("id")
    is_nvidia = type(major) is int and type(minor) is int and whole("warpSize") == 32
    return Device(
        number=identity if type(identity) is int else number,
        name=name if isinstance(name, str) else "",
        multiprocessors=whole("numSms", "maxComputeUnits"),
        compute_capability=(int(major or 0), int(minor or 0)) if is_nvidia else None,
        memory_bytes=whole("totalGlobalMem"),
        warp_size=whole("warpSize"),
        max_threads_per_multiprocessor=whole("maxThreadsPerMultiprocessor"),
    )
