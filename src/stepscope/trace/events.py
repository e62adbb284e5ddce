"""The events of a trace as typed records: what of the JSON is read, and the rest skipped unread.

``ABSENT`` stands for a whole number that is not there, so that a column of them is made in one go.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec
from msgspec import Raw

Scalar = Union[int, float, str, None]  # noqa: UP007  (msgspec reads the annotation at run time on 3.10)
Number = Union[int, float, None]  # noqa: UP007
Flag = Union[bool, int, float, str, None]  # noqa: UP007

ABSENT = -(2**63)
"""Where a whole number is missing; no trace can hold it, because times and ids are far from it."""

NO_TEXT = Raw(b"")

RENAMED = {
    "external_id": "External id",
    "old_external_id": "external id",
    "event_index": "Ev Idx",
    "sequence": "Sequence number",
    "forward_thread": "Fwd thread id",
    "input_dims": "Input Dims",
    "input_types": "Input type",
    "blocks_per_sm": "blocks per SM",
    "warps_per_sm": "warps per SM",
    "occupancy": "est. achieved occupancy %",
    "collective": "Collective name",
    "in_elements": "In msg nelems",
    "out_elements": "Out msg nelems",
    "group_size": "Group size",
    "group_name": "Process Group Name",
    "collective_sequence": "Seq",
    "rank": "Rank",
    "from_device": "fromDevice",
    "memory_bytes": "Bytes",
    "total_allocated": "Total Allocated",
    "total_reserved": "Total Reserved",
    "device_type": "Device Type",
    "device_id": "Device Id",
    "address": "Addr",
}


class Args(msgspec.Struct, gc=False, frozen=True, rename=RENAMED):
    """The arguments of an event that any table needs; all others are skipped."""

    correlation: Scalar = ABSENT
    external_id: Scalar = ABSENT
    old_external_id: Scalar = ABSENT
    event_index: Scalar = ABSENT
    sequence: Scalar = ABSENT
    forward_thread: Scalar = ABSENT
    input_dims: Raw = NO_TEXT
    input_types: Raw = NO_TEXT
    finished: Flag = True
    device: Scalar = ABSENT
    from_device: Scalar = ABSENT
    stream: Scalar = ABSENT
    bytes: Scalar = ABSENT
    grid: Any = None
    block: Any = None
    blocks_per_sm: Scalar = None
    warps_per_sm: Scalar = None
    occupancy: Scalar = None
    collective: Scalar = None
    dtype: Scalar = None
    in_elements: Scalar = ABSENT
    out_elements: Scalar = ABSENT
    group_size: Scalar = ABSENT
    group_name: Scalar = None
    collective_sequence: Scalar = ABSENT
    rank: Scalar = ABSENT
    memory_bytes: Scalar = ABSENT
    total_allocated: Scalar = ABSENT
    total_reserved: Scalar = ABSENT
    device_type: Scalar = ABSENT
    device_id: Scalar = ABSENT
    address: Scalar = ABSENT


NO_ARGS = Args()


class Event(msgspec.Struct, gc=False):
    """One trace event whose times are numbers: exact while a 64-bit float holds a nanosecond."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Scalar = ABSENT
    tid: Scalar = ABSENT
    ts: Number = None
    dur: Number = 0
    id: Scalar = ABSENT
    args: Args = NO_ARGS


class ExactEvent(msgspec.Struct, gc=False):
    """One trace event whose times stay text, to be read digit by digit."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Scalar = ABSENT
    tid: Scalar = ABSENT
    ts: Raw = NO_TEXT
    dur: Raw = NO_TEXT
    id: Scalar = ABSENT
    args: Args = NO_ARGS


AnyEvent = Union[Event, ExactEvent]  # noqa: UP007

decode_events = msgspec.json.Decoder(list[Event]).decode
"""Bytes of a JSON array of events to a list of :class:`Event`.

Raises:
    msgspec.DecodeError: The text is not JSON.
    msgspec.ValidationError: An event has a field of an unexpected type, such as a quoted time.
    RecursionError: An event is nested absurdly deep.
"""

decode_exact = msgspec.json.Decoder(list[ExactEvent]).decode
decode_raw = msgspec.json.Decoder(list[Raw]).decode
_decode_one = msgspec.json.Decoder(ExactEvent).decode
_decode_any = msgspec.json.Decoder(dict[str, Any]).decode


def decode_oddly(array: bytes) -> tuple[list[ExactEvent], list[int]]:
    """Events some of whose fields have unexpected types; such fields are left out.

    Args:
        array: A JSON array.

    Returns:
        The events, and the positions of those entries that are no objects.

    Raises:
        msgspec.DecodeError: The text is not JSON.
    """
    try:
        return decode_exact(array), []
    except msgspec.ValidationError:
        pass
    events: list[ExactEvent] = []
    foreign: list[int] = []
    for position, raw in enumerate(decode_raw(array)):
        try:
            events.append(_decode_one(raw))
        except msgspec.ValidationError:
            event = _lenient(raw)
            if event is None:
                foreign.append(position)
            else:
                events.append(event)
    return events, foreign


def _lenient(raw: Raw) -> ExactEvent | None:
    """An event without its fields of unexpected types; None when it is no object, or not UTF-8."""
    try:
        fields = _decode_any(raw)
    except msgspec.DecodeError:
        # Text that is no UTF-8 is found only when the value is decoded.
        return None
    kept: dict[str, Any] = {}
    for key in ("ph", "cat", "name"):
        if isinstance(fields.get(key), str):
            kept[key] = fields[key]
    for key in ("pid", "tid", "id"):
        if _is_scalar(fields.get(key)):
            kept[key] = fields[key]
    for key in ("ts", "dur"):
        if key in fields:
            kept[key] = Raw(msgspec.json.encode(fields[key]))
    args = fields.get("args")
    return ExactEvent(**kept, args=_lenient_args(args) if isinstance(args, dict) else NO_ARGS)


def _lenient_args(args: dict[str, Any]) -> Args:
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(Args):
        if field.encode_name not in args:
            continue
        value = args[field.encode_name]
        if field.type is Raw:
            kept[field.name] = Raw(msgspec.json.encode(value))
        elif _is_scalar(value) or field.type is Any or (field.type is Flag and value is False):
            kept[field.name] = value
    return Args(**kept)


def _is_scalar(value: object) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)
