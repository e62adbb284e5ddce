"""Columns out of lists of events: one function for each kind of rows."""

from __future__ import annotations

import zlib
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.schema.tables import DEVICE_KINDS, HOST_KINDS
from stepscope.trace.events import ABSENT, AnyEvent, Args, ExactEvent, Number, Scalar
from stepscope.trace.numbers import Ints, floats, from_numbers, from_texts, wholes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from msgspec import Raw

    from stepscope.trace.rows import Column
    from stepscope.trace.words import Words

    Groups = list[tuple[str, list[AnyEvent]]]

NO_STREAM = 4294967295
NO_TEXT = -1
HOST_CODE = {kind: code for code, kind in enumerate(HOST_KINDS)}
DEVICE_CODE = {kind: code for code, kind in enumerate(DEVICE_KINDS)}
CALLS = frozenset({"runtime", "driver"})


class Inexact(Exception):  # noqa: N818  (no error: the same text has to be read in another way)
    """Times that 64-bit floats cannot hold to the nanosecond: the events must be decoded as text."""


def host_columns(groups: Groups, names: Words, shapes: Words) -> dict[str, Column]:
    """The calls into the device's API carry few arguments, so that less is asked of them."""
    groups = sorted(groups, key=lambda pair: pair[0] in CALLS)
    rich = sum(len(group) for kind, group in groups if kind not in CALLS)
    events = [event for _, group in groups for event in group]
    args = [event.args for event in events]
    with_shapes, calls = args[:rich], len(args) - rich
    columns: dict[str, Column] = {
        **time_columns(events),
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


def device_columns(groups: Groups, names: Words) -> dict[str, Column]:
    """Rows of device work; what only collectives have is asked of no piece without one."""
    events = [event for _, group in groups for event in group]
    args = [event.args for event in events]
    device = _either(_whole("device", args), "from_device", args)
    stream = _whole("stream", args)
    collective = [a.collective for a in args]
    talking = collective.count(None) < len(args)
    columns: dict[str, Column] = {
        **time_columns(events),
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


def memory_columns(events: list[AnyEvent]) -> dict[str, Column]:
    """Rows of the allocator's events."""
    args = [event.args for event in events]
    return {
        "time_ns": _starts(events),
        "device_type": _whole("device_type", args),
        "device_id": _whole("device_id", args),
        "bytes": _whole("memory_bytes", args),
        "total_allocated_bytes": _whole("total_allocated", args),
        "total_reserved_bytes": _whole("total_reserved", args),
        "address": _whole("address", args),
        "pid": _ids(events, "pid"),
        "tid": _ids(events, "tid"),
    }


def flow_columns(events: list[AnyEvent]) -> dict[str, Column]:
    """Rows of flow events, one for each end of an arrow."""
    return {
        "is_start": np.array([event.ph == "s" for event in events], np.bool_),
        "id": _ids(events, "id"),
        "pid": _ids(events, "pid"),
        "tid": _ids(events, "tid"),
        "time_ns": _starts(events),
    }


def time_columns(events: list[AnyEvent]) -> dict[str, Column]:
    """Starts and durations in nanoseconds.

    Raises:
        Inexact: The events must come as :class:`ExactEvent`.
    """
    return {"start_ns": _starts(events), "dur_ns": _durations(events)}


def _starts(events: list[AnyEvent]) -> Ints:
    if events and isinstance(events[0], ExactEvent):
        return from_texts([event.ts for event in events])  # type: ignore[misc]
    return _exact(events, "ts")


def _durations(events: list[AnyEvent]) -> Ints:
    if events and isinstance(events[0], ExactEvent):
        return from_texts([event.dur for event in events], missing=0)  # type: ignore[misc]
    return _exact(events, "dur")


def _exact(events: list[AnyEvent], name: str) -> Ints:
    value: Callable[[AnyEvent], Number] = attrgetter(name)
    found = from_numbers(list(map(value, events)))
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
    try:
        return np.fromiter(map(value, events), np.int64, len(events))
    except (TypeError, ValueError, OverflowError):
        values = map(value, events)
        return wholes([_number(v) if isinstance(v, str) else v for v in values])


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


def _product(value: Any) -> int:  # noqa: ANN401  (a foreign JSON value)
    try:
        x, y, z = value
        product = x * y * z
    except (TypeError, ValueError):
        return ABSENT
    return product if type(product) is int and 0 <= product < 2**62 else ABSENT
