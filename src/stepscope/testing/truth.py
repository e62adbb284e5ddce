"""The tables that reading a made trace must give, worked out from the recording the slow and plain way."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeVar

from stepscope.testing.clock import ClockText, base_ns
from stepscope.testing.records import DEVICE_KIND, HOST_KIND, Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.testing.form import Form
    from stepscope.testing.records import Recording

DIRECTIONS = ("HtoD", "DtoH", "DtoD", "PtoP", "HtoH")
NO_STREAM = -1
NEST_APART = ("python_function", "overhead")
"""They lie across operators in real traces, so that they nest among themselves."""

T = TypeVar("T", int, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRow:
    """A row of the table ``host``; fields are the columns of ``schema.tables.HOST``, in order."""

    kind: str
    name: str
    pid: int
    tid: int
    start_ns: int
    end_ns: int
    parent: int | None
    depth: int
    self_ns: int
    correlation: int | None
    external_id: int | None
    sequence: int | None
    forward_thread: int | None
    input_dims: str | None
    input_types: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRow:
    """A row of the table ``device``; fields are the columns of ``schema.tables.DEVICE``, in order."""

    kind: str
    name: str
    device: int
    stream: int
    start_ns: int
    end_ns: int
    correlation: int | None
    launch: int | None
    operator: int | None
    is_communication: bool
    bytes: int | None
    direction: str | None
    is_pageable: bool | None
    blocks: int | None
    threads_per_block: int | None
    blocks_per_sm: float | None
    warps_per_sm: float | None
    occupancy_percent: float | None
    collective: str | None
    collective_dtype: str | None
    collective_elements: int | None
    group_name: str | None
    group_size: int | None
    sequence: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """A row of the table ``memory``; fields are the columns of ``schema.tables.MEMORY``, in order."""

    time_ns: int
    device_type: int
    device_id: int
    bytes: int
    total_allocated_bytes: int | None
    total_reserved_bytes: int | None
    address: int | None
    pid: int | None
    tid: int | None


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step that a ``ProfilerStep`` annotation marks."""

    number: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Truth:
    """What a trace says, as rows.

    Attributes:
        host, device, memory: In the order of the tables.
        steps: In order of time.
    """

    host: tuple[HostRow, ...]
    device: tuple[DeviceRow, ...]
    memory: tuple[MemoryRow, ...]
    steps: tuple[StepRow, ...]


def tell(recording: Recording, form: Form, *, python: bool = False) -> Truth:
    """The rows that a trace of this recording holds.

    Args:
        recording: What was recorded.
        form: The form that it is read from. Its clock decides what remains of times; a bare list of
            relative times has lost their base, so that they count from it; an ``event-list`` holds
            nothing of the host rows but their names and times.
        python: Whether Python frames are among the host rows.
    """
    if form.layout == "event-list":
        return _tell_event_list(recording)
    base = base_ns(recording.start_ns)
    lost = base if form.layout == "bare-list" and form.clock == "relative" else 0
    text = ClockText(clock=form.clock, keeps_zeros=True, origin_ns=lost)
    spans = sorted(
        (
            span
            for span in recording.spans
            if span.category in HOST_KIND and (python or span.category != "python_function")
        ),
        key=lambda span: (
            text.read(span.start_ns),
            text.read(span.start_ns) - text.read(span.end_ns),
        ),
    )
    times = [(text.read(span.start_ns), text.read(span.end_ns)) for span in spans]
    host = _host_rows(spans, times)
    device = sorted(
        (_device_row(span, host, text) for span in recording.spans if span.category in DEVICE_KIND),
        key=lambda row: (row.start_ns, row.device, row.stream),
    )
    steps = [
        StepRow(int(row.name.partition("#")[2]), row.start_ns, row.end_ns)
        for row in host
        if row.kind == "annotation" and row.name.startswith("ProfilerStep#")
    ]
    return Truth(tuple(host), tuple(device), _memory_rows(recording, text), tuple(steps))


def _tell_event_list(recording: Recording) -> Truth:
    """Times count from the start of the window; operators and annotations alone are left."""
    text = ClockText(clock="relative", keeps_zeros=True, origin_ns=recording.start_ns)
    spans = sorted(
        (
            Span(span.category, span.name, span.pid, span.tid, span.start_ns, span.end_ns)
            for span in recording.spans
            if span.category in ("cpu_op", "user_annotation")
        ),
        key=lambda span: (span.start_ns, -span.end_ns),
    )
    times = [(text.read(span.start_ns), text.read(span.end_ns)) for span in spans]
    return Truth(tuple(_host_rows(spans, times)), (), (), ())


def _host_rows(spans: list[Span], times: list[tuple[int, int]]) -> list[HostRow]:
    parents: list[int | None] = []
    depths: list[int] = []
    own = [end - start for start, end in times]
    still_open: dict[tuple[int, int, bool], list[int]] = {}
    for row, (span, (start, end)) in enumerate(zip(spans, times, strict=True)):
        apart = span.category in NEST_APART
        around = still_open.setdefault((span.pid, span.tid, apart), [])
        around[:] = [
            other for other in around if times[other][1] > start or times[other] == (start, start)
        ]
        parents.append(around[-1] if around else None)
        depths.append(len(around))
        if around:
            own[around[-1]] -= max(min(end, times[around[-1]][1]) - start, 0)
        around.append(row)
    return [
        _host_row(span, time, parent, depth, self_ns)
        for span, time, parent, depth, self_ns in zip(
            spans, times, parents, depths, own, strict=True
        )
    ]


def _host_row(
    span: Span, time: tuple[int, int], parent: int | None, depth: int, self_ns: int
) -> HostRow:
    args = span.args
    return HostRow(
        kind=HOST_KIND[span.category],
        name=span.name,
        pid=span.pid,
        tid=span.tid,
        start_ns=time[0],
        end_ns=time[1],
        parent=parent,
        depth=depth,
        self_ns=max(self_ns, 0),
        correlation=_whole(args, "correlation", None),
        external_id=_whole(args, "External id", None),
        sequence=_whole(args, "Sequence number", None),
        forward_thread=_whole(args, "Fwd thread id", None),
        input_dims=_json(args, "Input Dims"),
        input_types=_json(args, "Input type"),
    )


def _device_row(span: Span, host: list[HostRow], text: ClockText) -> DeviceRow:
    args = span.args
    correlation = _whole(args, "correlation", None)
    launch = next(
        (
            at
            for at, row in enumerate(host)
            if correlation is not None and row.correlation == correlation
        ),
        None,
    )
    sizes = [
        size
        for size in (_whole(args, "In msg nelems", None), _whole(args, "Out msg nelems", None))
        if size
    ]
    return DeviceRow(
        kind=DEVICE_KIND[span.category],
        name=span.name,
        device=_whole(args, "device", span.pid),
        stream=_whole(args, "stream", NO_STREAM),
        start_ns=text.read(span.start_ns),
        end_ns=text.read(span.end_ns),
        correlation=correlation,
        launch=launch,
        operator=_operator_around(launch, host),
        is_communication="Collective name" in args,
        bytes=_whole(args, "bytes", None),
        direction=_direction(span),
        is_pageable=_is_pageable(span),
        blocks=_product(args, "grid"),
        threads_per_block=_product(args, "block"),
        blocks_per_sm=_number(args, "blocks per SM"),
        warps_per_sm=_number(args, "warps per SM"),
        occupancy_percent=_number(args, "est. achieved occupancy %"),
        collective=_text(args, "Collective name"),
        collective_dtype=_text(args, "dtype"),
        collective_elements=max(sizes, default=None),
        group_name=_text(args, "Process Group Name"),
        group_size=_whole(args, "Group size", None),
        sequence=_whole(args, "Seq", None),
    )


def _operator_around(launch: int | None, host: list[HostRow]) -> int | None:
    """The innermost operator that encloses a launch."""
    at = launch
    while at is not None:
        if host[at].kind == "operator":
            return at
        at = host[at].parent
    return None


def _direction(span: Span) -> str | None:
    if span.category != "gpu_memcpy":
        return None
    return next((word for word in DIRECTIONS if word in span.name), None)


def _is_pageable(span: Span) -> bool | None:
    """Known only where the name tells the kind of the host's memory."""
    if "Pageable" in span.name:
        return True
    return False if "Pinned" in span.name else None


def _memory_rows(recording: Recording, text: ClockText) -> tuple[MemoryRow, ...]:
    rows = [
        MemoryRow(
            time_ns=text.read(event.time_ns),
            device_type=_whole(event.args, "Device Type", 0),
            device_id=_whole(event.args, "Device Id", -1),
            bytes=_whole(event.args, "Bytes", 0),
            total_allocated_bytes=_whole(event.args, "Total Allocated", None),
            total_reserved_bytes=_whole(event.args, "Total Reserved", None),
            address=_whole(event.args, "Addr", None),
            pid=event.pid,
            tid=event.tid,
        )
        for event in recording.memory
    ]
    return tuple(sorted(rows, key=lambda row: row.time_ns))


def _whole(args: Mapping[str, object], key: str, missing: T) -> int | T:
    value = args.get(key)
    return value if isinstance(value, int) else missing


def _number(args: Mapping[str, object], key: str) -> float | None:
    value = args.get(key)
    return float(value) if isinstance(value, (int, float)) else None


def _text(args: Mapping[str, object], key: str) -> str | None:
    value = args.get(key)
    return value if isinstance(value, str) else None


def _json(args: Mapping[str, object], key: str) -> str | None:
    """A list as JSON text, spelt in one way whatever the layout."""
    return json.dumps(args[key]) if key in args else None


def _product(args: Mapping[str, object], key: str) -> int | None:
    value = args.get(key)
    if not isinstance(value, (list, tuple)):
        return None
    return prod(int(side) for side in value)
