"""From lists of events to columns of numbers, one piece of text at a time; the events are dropped afterwards.

Texts become codes of a :class:`~stepscope.trace.words.Words`. Nothing here needs a table library, so
that worker processes start fast.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from stepscope.schema.tables import DEVICE_KINDS, HOST_KINDS
from stepscope.trace.categories import DEVICE_KIND, HOST_KIND, NOT_WORK, PYTHON
from stepscope.trace.events import ABSENT, AnyEvent, Args, ExactEvent, Scalar
from stepscope.trace.numbers import Ints, floats, from_numbers, from_texts, wholes
from stepscope.trace.rows import Column, Rows
from stepscope.trace.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from msgspec import Raw

    Groups = list[tuple[str, list[AnyEvent]]]

NO_STREAM = 4294967295
NO_TEXT = -1
LEGACY_HOST = "CPU functions"
LEGACY_DEVICE = "CUDA functions"
MEMORY = "cpu_instant_event"
COLLECTIVE_RECORD = "record_param_comms"
FORWARD_BACKWARD = "fwdbwd"
HOST_CODE = {kind: code for code, kind in enumerate(HOST_KINDS)}
DEVICE_CODE = {kind: code for code, kind in enumerate(DEVICE_KINDS)}
CALLS = frozenset({"runtime", "driver"})


class Inexact(Exception):  # noqa: N818  (no error: the same text has to be read in another way)
    """Times that 64-bit floats cannot hold to the nanosecond: the events must be decoded as text."""


class Columns:
    """What of a file became columns.

    Args:
        with_python: Whether Python frames are wanted.

    Attributes:
        host, device, memory, spans, flows: Raw rows.
        names: Dictionary of the names of host and device events, collectives, types and groups.
        shapes: Dictionary of input shapes and types, as JSON text.
        complete: Events with a duration, of any category.
        python: Python frames seen.
        unknown: Events by category that ``trace.categories`` does not know.
        rank: The rank that a collective's arguments name.
    """

    def __init__(self, *, with_python: bool = False) -> None:
        self.with_python = with_python
        self.host, self.device, self.memory = Rows(), Rows(), Rows()
        self.spans, self.flows = Rows(), Rows()
        self.names, self.shapes = Words(), Words()
        self.complete = 0
        self.python = 0
        self.unknown: dict[str, int] = {}
        self.rank: int | None = None

    @property
    def rows(self) -> int:
        """Rows that tables will have."""
        return self.host.count + self.device.count + self.memory.count

    def skip_python(self, count: int) -> None:
        """Counts Python frames that were not decoded."""
        self.complete += count
        self.python += count

    def add(self, events: Sequence[AnyEvent]) -> None:
        """Takes the events of one piece in.

        Raises:
            Inexact: Nothing was taken in; the events must come as :class:`ExactEvent`.
        """
        groups: defaultdict[tuple[str, str], list[AnyEvent]] = defaultdict(list)
        for event in events:
            groups[event.ph, event.cat].append(event)
        host: Groups = []
        device: Groups = []
        memory: list[AnyEvent] = []
        spans: list[AnyEvent] = []
        flows: list[AnyEvent] = []
        rest: Groups = []
        for (phase, category), group in groups.items():
            if phase == "X":
                self._sort_complete(category.lower(), group, host, device, (memory, spans))
                rest.append((category, group))
            elif phase == "i" and category == MEMORY:
                memory += group
            elif phase == "i" and not category:  # until 2022
                memory += [event for event in group if event.name == "[memory]"]
            elif phase in {"s", "f"} and category != FORWARD_BACKWARD:
                flows += group
        made = [
            (self.host, _host(host, self.names, self.shapes) if host else None),
            (self.device, _device(device, self.names) if device else None),
            (self.memory, _memory(memory) if memory else None),
            (self.spans, _times(spans) if spans else None),
            (self.flows, _flows(flows) if flows else None),
        ]
        for rows, columns in made:
            if columns is not None:
                rows.add(columns)
        for category, group in rest:
            self._count(category, len(group))
        self._find_rank(host)

    def _sort_complete(
        self,
        category: str,
        group: list[AnyEvent],
        host: Groups,
        device: Groups,
        others: tuple[list[AnyEvent], list[AnyEvent]],
    ) -> None:
        if category in HOST_KIND:
            host.append((HOST_KIND[category], group))
        elif category in DEVICE_KIND:
            device.append((DEVICE_KIND[category], group))
        elif category == PYTHON:
            if self.with_python:
                host.append(("python", group))
        elif category == MEMORY:
            others[0].extend(group)
        elif category == "trace":
            others[1].extend(group)
        elif not category:
            host.append(("operator", [e for e in group if e.pid == LEGACY_HOST]))
            device.append(("kernel", [e for e in group if e.pid == LEGACY_DEVICE]))
            host.append(("other", [e for e in group if e.pid not in (LEGACY_HOST, LEGACY_DEVICE)]))
        elif category not in NOT_WORK:
            host.append(("other", group))

    def _count(self, category: str, count: int) -> None:
        self.complete += count
        lower = category.lower()
        if lower == PYTHON:
            self.python += count
        elif lower not in KNOWN:
            self.unknown[category] = self.unknown.get(category, 0) + count

    def _find_rank(self, host: Groups) -> None:
        if self.rank is not None or COLLECTIVE_RECORD not in self.names:
            return
        for _, group in host:
            for event in group:
                rank = event.args.rank
                if type(rank) is int and rank >= 0:
                    self.rank = rank
                    return


KNOWN = frozenset({*HOST_KIND, *DEVICE_KIND, *NOT_WORK, PYTHON, MEMORY, "trace", ""})


def _host(groups: Groups, names: Words, shapes: Words) -> dict[str, Column]:
    """The calls into the device's API carry few arguments, so that less is asked of them."""
    groups = sorted(groups, key=lambda pair: pair[0] in CALLS)
    rich = sum(len(group) for kind, group in groups if kind not in CALLS)
    events = [event for _, group in groups for event in group]
    args = [event.args for event in events]
    with_shapes, calls = args[:rich], len(args) - rich
    columns: dict[str, Column] = {
        **_times(events),
        "kind": _kinds(groups, HOST_CODE),
        "pid": _ids(events, "pid"),
        "tid": _ids(events, "tid"),
        "correlation": _whole("correlation", args),
        "external_id": _either(_whole("external_id", args), "old_external_id", args),
        "event_index": _whole("event_index", args),
    }
    for name in ("sequence", "forward_thread"):
        columns[name] = np.append(_whole(name, with_shapes), np.full(calls, ABSENT))
    closed = [a.finished is not False and a.finished != "false" for a in with_shapes]
    columns["is_open"] = ~np.append(np.array(closed, np.bool_), np.ones(calls, np.bool_))
    for name in ("input_dims", "input_types"):
        columns[name] = np.append(
            _json(map(attrgetter(name), with_shapes), shapes), np.full(calls, NO_TEXT, np.int32)
        )
    columns["name"] = names.codes([event.name for event in events])
    return columns


def _device(groups: Groups, names: Words) -> dict[str, Column]:
    events = [event for _, group in groups for event in group]
    args = [event.args for event in events]
    device = _either(_whole("device", args), "from_device", args)
    stream = _whole("stream", args)
    collective = [a.collective for a in args]
    talking = collective.count(None) < len(args)
    columns: dict[str, Column] = {
        **_times(events),
        "kind": _kinds(groups, DEVICE_CODE),
        "device": np.where(device == ABSENT, _ids(events, "pid"), device),
        "stream": np.where(stream == ABSENT, _ids(events, "tid"), stream),
        "correlation": _whole("correlation", args),
        "external_id": _either(_whole("external_id", args), "old_external_id", args),
        "bytes": _whole("bytes", args),
        "blocks": _products([a.grid for a in args]),
        "threads_per_block": _products([a.block for a in args]),
        "blocks_per_sm": floats([a.blocks_per_sm for a in args]),
        "warps_per_sm": floats([a.warps_per_sm for a in args]),
        "occupancy_percent": floats([a.occupancy for a in args]),
    }
    columns["stream"][columns["stream"] == NO_STREAM] = -1
    quiet = [None] * len(args)
    columns["collective"] = _text(collective, names)
    columns["collective_dtype"] = _text([a.dtype for a in args] if talking else quiet, names)
    columns["group_name"] = _text([a.group_name for a in args] if talking else quiet, names)
    columns["collective_elements"] = np.maximum(
        _whole("in_elements", args), _whole("out_elements", args)
    )
    columns["group_size"] = _whole("group_size", args)
    columns["sequence"] = _whole("collective_sequence", args)
    columns["name"] = names.codes([event.name for event in events])
    return columns


def _memory(events: list[AnyEvent]) -> dict[str, Column]:
    args = [event.args for event in events]
    return {
        "time_ns": _starts(events),
        "device_type": _whole("device_type", args),
        "device_id": _whole("device_id", args),
        "bytes": _whole("memory_bytes", args),
        "total_allocated_bytes": _whole("total_allocated", args),
        "total_reserved_bytes": _whole("total_reserved", args),
    }


def _flows(events: list[AnyEvent]) -> dict[str, Column]:
    return {
        "is_start": np.array([event.ph == "s" for event in events], np.bool_),
        "id": _ids(events, "id"),
        "pid": _ids(events, "pid"),
        "tid": _ids(events, "tid"),
        "time_ns": _starts(events),
    }


def _times(events: list[AnyEvent]) -> dict[str, Column]:
    return {"start_ns": _starts(events), "dur_ns": _durations(events)}


def _starts(events: list[AnyEvent]) -> Ints:
    if events and isinstance(events[0], ExactEvent):
        return from_texts([event.ts for event in events])  # type: ignore[misc]
    return _exact([event.ts for event in events])  # type: ignore[misc]


def _durations(events: list[AnyEvent]) -> Ints:
    if events and isinstance(events[0], ExactEvent):
        return from_texts([event.dur for event in events], missing=0)  # type: ignore[misc]
    return _exact([event.dur for event in events])  # type: ignore[misc]


def _exact(values: list[float | int | None]) -> Ints:
    found = from_numbers(values)
    if found is None:
        raise Inexact
    return found


def _kinds(groups: Groups, codes: dict[str, int]) -> Column:
    return np.repeat(
        np.array([codes[kind] for kind, _ in groups], np.int8), [len(group) for _, group in groups]
    )


def _whole(name: str, args: Sequence[Args]) -> Ints:
    """A column of whole numbers; the quick way when all are numbers, value by value otherwise."""
    value = attrgetter(name)
    try:
        return np.fromiter(map(value, args), np.int64, len(args))
    except (TypeError, ValueError, OverflowError):
        return wholes([value(a) for a in args])


def _either(first: Ints, other: str, args: Sequence[Args]) -> Ints:
    """The first column, and the argument ``other`` where that is absent."""
    absent = first == ABSENT
    return np.where(absent, _whole(other, args), first) if absent.any() else first


def _ids(events: list[AnyEvent], name: str) -> Ints:
    """Process or thread ids; ids that are words get a number of their own below -1000."""
    value: Callable[[AnyEvent], Scalar] = attrgetter(name)
    values = [value(event) for event in events]
    try:
        if str not in set(map(type, values)):
            return wholes(values)
        return wholes([_number(v) if isinstance(v, str) else v for v in values])
    except TypeError:
        return wholes(values)


def _number(text: str) -> int:
    digits = text.removeprefix("stream ").strip()
    if digits.removeprefix("-").isdecimal() and len(digits) < 19:
        return int(digits)
    return -1000 - zlib.crc32(text.encode("utf-8", "replace"))


def _text(values: Sequence[Scalar], words: Words) -> Column:
    if values.count(None) == len(values):
        return np.full(len(values), NO_TEXT, np.int32)
    return np.fromiter(
        (NO_TEXT if v is None else words[str(v)] for v in values), np.int32, len(values)
    )


def _json(values: Iterable[Raw], shapes: Words) -> Column:
    found = [shapes[str(raw, "utf-8", "replace")] if raw else NO_TEXT for raw in values]
    return np.array(found, np.int32)


def _products(values: Sequence[object]) -> Ints:
    """Product of each list of three whole numbers; ABSENT for anything else."""
    return wholes([_product(value) for value in values])


def _product(value: object) -> int:
    if not isinstance(value, list) or len(value) != 3 or not all(type(v) is int for v in value):
        return ABSENT
    product = int(value[0] * value[1] * value[2])
    return product if 0 <= product < 2**62 else ABSENT
