"""From lists of events to columns, one chunk at a time; the events are dropped afterwards."""

from __future__ import annotations

import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from stepscope.trace import limits
from stepscope.trace.categories import DEVICE_KIND, HOST_KIND, NOT_WORK, PYTHON
from stepscope.trace.events import Args, Event, Scalar
from stepscope.trace.numbers import floats, integers, nanoseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_ARGS = Args()
NO_STREAM = 4294967295
LEGACY_HOST = "CPU functions"
LEGACY_DEVICE = "CUDA functions"


@dataclass(slots=True)
class Columns:
    """What of a file became columns.

    Attributes:
        with_python: Whether Python frames are wanted.
        host, device, memory, spans: Frames, one per chunk.
        complete: Events with a duration, of any category.
        python: Python frames seen.
        unknown: Events by category that no table of ``trace.categories`` knows.
        long_names: Names that were cut.
        rank: The rank that a collective's arguments name.
        thread_names: Last name given to each (pid, tid) that is not the main thread's.
    """

    with_python: bool = False
    host: list[pl.DataFrame] = field(default_factory=list)
    device: list[pl.DataFrame] = field(default_factory=list)
    memory: list[pl.DataFrame] = field(default_factory=list)
    spans: list[pl.DataFrame] = field(default_factory=list)
    complete: int = 0
    python: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    long_names: int = 0
    rank: int | None = None

    def add(self, events: Sequence[Event]) -> None:
        """Takes the events of one chunk in."""
        groups: defaultdict[tuple[str, str], list[Event]] = defaultdict(list)
        for event in events:
            groups[event.ph, event.cat].append(event)
        host: list[tuple[str, list[Event]]] = []
        device: list[tuple[str, list[Event]]] = []
        for (phase, category), group in groups.items():
            if phase == "X":
                self.complete += len(group)
                self._sort_complete(category, group, host, device)
            elif phase == "i" and category == "cpu_instant_event":
                self._add_memory(group)
            elif phase == "i" and not category:  # until 2022
                self._add_memory([event for event in group if event.name == "[memory]"])
        if host:
            self.host.append(self._host_frame(host))
        if device:
            self.device.append(self._device_frame(device))

    def _sort_complete(
        self,
        category: str,
        group: list[Event],
        host: list[tuple[str, list[Event]]],
        device: list[tuple[str, list[Event]]],
    ) -> None:
        lower = category.lower()
        if lower in HOST_KIND:
            host.append((HOST_KIND[lower], group))
        elif lower in DEVICE_KIND:
            device.append((DEVICE_KIND[lower], group))
        elif lower == PYTHON:
            self.python += len(group)
            if self.with_python:
                host.append(("python", group))
        elif lower == "cpu_instant_event":
            self._add_memory(group)
        elif lower == "trace":
            self.spans.append(_times(group))
        elif not lower:
            host.append(("operator", [e for e in group if e.pid == LEGACY_HOST]))
            device.append(("kernel", [e for e in group if e.pid == LEGACY_DEVICE]))
        elif lower not in NOT_WORK:
            self.unknown[category] = self.unknown.get(category, 0) + len(group)
            host.append(("other", group))

    def _host_frame(self, groups: list[tuple[str, list[Event]]]) -> pl.DataFrame:
        events = [event for _, group in groups for event in group]
        args = [event.args or NO_ARGS for event in events]
        self._find_rank(args)
        return _times(events).with_columns(
            pl.Series(
                "kind", [kind for kind, group in groups for _ in group], dtype=pl.Categorical
            ),
            self._names(events),
            whole("pid", [_number(e.pid) for e in events]),
            whole("tid", [_number(e.tid) for e in events]),
            whole("correlation", [a.correlation for a in args]),
            whole("external_id", [_first(a.external_id, a.old_external_id) for a in args]),
            whole("event_index", [a.event_index for a in args]),
            whole("sequence", [a.sequence for a in args]),
            whole("forward_thread", [a.forward_thread for a in args]),
            _json("input_dims", [a.input_dims for a in args]),
            _json("input_types", [a.input_types for a in args]),
            pl.Series("is_open", [a.finished == b"false" for a in args], dtype=pl.Boolean),
        )

    def _device_frame(self, groups: list[tuple[str, list[Event]]]) -> pl.DataFrame:
        events = [event for _, group in groups for event in group]
        args = [event.args or NO_ARGS for event in events]
        return _times(events).with_columns(
            pl.Series(
                "kind", [kind for kind, group in groups for _ in group], dtype=pl.Categorical
            ),
            self._names(events),
            whole(
                "device",
                [
                    _first(_first(a.device, a.from_device), _number(e.pid))
                    for e, a in zip(events, args, strict=True)
                ],
            ),
            whole(
                "stream",
                [
                    _stream(_first(a.stream, _number(e.tid)))
                    for e, a in zip(events, args, strict=True)
                ],
            ),
            whole("correlation", [a.correlation for a in args]),
            whole("bytes", [a.bytes for a in args]),
            pl.Series("blocks", [_product(a.grid) for a in args], dtype=pl.Int64),
            pl.Series("threads_per_block", [_product(a.block) for a in args], dtype=pl.Int64),
            floats([a.blocks_per_sm for a in args]).alias("blocks_per_sm"),
            floats([a.warps_per_sm for a in args]).alias("warps_per_sm"),
            floats([a.occupancy for a in args]).alias("occupancy_percent"),
            _text("collective", [a.collective for a in args]),
            _text("collective_dtype", [a.dtype for a in args]),
            whole("collective_elements", [_larger(a.in_elements, a.out_elements) for a in args]),
            _text("group_name", [a.group_name for a in args]),
            whole("group_size", [a.group_size for a in args]),
            whole("sequence", [a.collective_sequence for a in args]),
        )

    def _add_memory(self, group: list[Event]) -> None:
        args = [event.args or NO_ARGS for event in group]
        self.memory.append(
            pl.DataFrame(
                [
                    nanoseconds([e.ts for e in group]).alias("time_ns"),
                    whole("device_type", [a.device_type for a in args]),
                    whole("device_id", [a.device_id for a in args]),
                    whole("bytes", [a.memory_bytes for a in args]),
                    whole("total_allocated_bytes", [a.total_allocated for a in args]),
                    whole("total_reserved_bytes", [a.total_reserved for a in args]),
                ]
            )
        )

    def _names(self, events: list[Event]) -> pl.Series:
        names = pl.Series("name", [e.name for e in events], dtype=pl.String)
        long = names.str.len_chars() > limits.NAME_CHARACTERS
        if long.any():
            self.long_names += int(long.sum())
            names = names.str.slice(0, limits.NAME_CHARACTERS)
        return names.cast(pl.Categorical)

    def _find_rank(self, args: list[Args]) -> None:
        if self.rank is None:
            self.rank = next((a.rank for a in args if type(a.rank) is int and a.rank >= 0), None)


def _times(events: list[Event]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            nanoseconds([e.ts for e in events]).alias("start_ns"),
            nanoseconds([e.dur for e in events]).alias("dur_ns"),
        ]
    )


def whole(name: str, values: list[Scalar]) -> pl.Series:
    """A column of whole numbers; the quick way when all are numbers, value by value otherwise."""
    try:
        return pl.Series(name, values, dtype=pl.Int64, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return integers(values).alias(name)


def _text(name: str, values: list[Scalar]) -> pl.Series:
    return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)


def _json(name: str, values: list[msgspec.Raw]) -> pl.Series:
    """JSON text without its layout, so that the same shapes read alike however they were indented."""
    if not any(values):
        return pl.Series(name, [None] * len(values), dtype=pl.String)
    texts = pl.Series(name, [bytes(v) or None for v in values], dtype=pl.Binary).cast(pl.String)
    unique = texts.unique().drop_nulls().to_list()
    compact = [msgspec.json.format(text, indent=0) for text in unique]
    return texts.replace_strict(unique, compact, return_dtype=pl.String)


def _number(value: Scalar) -> Scalar:
    """A process or thread id; ids that are words get a number of their own below -1000."""
    if not isinstance(value, str):
        return value
    digits = value.removeprefix("stream ").strip()
    if digits.removeprefix("-").isdecimal() and len(digits) < 19:
        return int(digits)
    return -1000 - zlib.crc32(value.encode("utf-8", "replace"))


def _first(one: Scalar, other: Scalar) -> Scalar:
    return other if one is None else one


def _stream(value: Scalar) -> Scalar:
    return -1 if value is None or value == NO_STREAM else value


def _larger(one: Scalar, other: Scalar) -> int | None:
    numbers = [n for n in (one, other) if type(n) is int]
    return max(numbers, default=None)


def _product(raw: msgspec.Raw) -> int | None:
    """Product of a JSON list of three whole numbers."""
    if not raw:
        return None
    try:
        x, y, z = msgspec.json.decode(raw, type=tuple[int, int, int])
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    return x * y * z
