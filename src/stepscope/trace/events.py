"""The events of a trace as typed records: what of the JSON is read, and the rest skipped unread."""

from __future__ import annotations

from typing import Any, Union

import msgspec
from msgspec import Raw

Scalar = Union[int, float, str, None]  # noqa: UP007  (msgspec reads the annotation at run time on 3.10)

EMPTY = Raw(b"")

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
}


class Args(msgspec.Struct, gc=False, rename=RENAMED):
    """The arguments of an event that any table needs; all others are skipped."""

    correlation: Scalar = None
    external_id: Scalar = None
    old_external_id: Scalar = None
    event_index: Scalar = None
    sequence: Scalar = None
    forward_thread: Scalar = None
    input_dims: Raw = EMPTY
    input_types: Raw = EMPTY
    finished: Raw = EMPTY
    device: Scalar = None
    from_device: Scalar = None
    stream: Scalar = None
    bytes: Scalar = None
    grid: Raw = EMPTY
    block: Raw = EMPTY
    blocks_per_sm: Scalar = None
    warps_per_sm: Scalar = None
    occupancy: Scalar = None
    collective: Scalar = None
    dtype: Scalar = None
    in_elements: Scalar = None
    out_elements: Scalar = None
    group_size: Scalar = None
    group_name: Scalar = None
    collective_sequence: Scalar = None
    rank: Scalar = None
    memory_bytes: Scalar = None
    total_allocated: Scalar = None
    total_reserved: Scalar = None
    device_type: Scalar = None
    device_id: Scalar = None


class Event(msgspec.Struct, gc=False):
    """One trace event. ``ts`` and ``dur`` stay text: microseconds, read exactly by ``trace.numbers``."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Scalar = None
    tid: Scalar = None
    ts: Raw = EMPTY
    dur: Raw = EMPTY
    id: Scalar = None
    args: Args | None = None


decode_events = msgspec.json.Decoder(list[Event]).decode
"""Bytes of a JSON array of events to a list of :class:`Event`.

Raises:
    msgspec.DecodeError: The text is not JSON.
    msgspec.ValidationError: An event has a field of an unexpected type.
"""

decode_raw = msgspec.json.Decoder(list[Raw]).decode
decode_event = msgspec.json.Decoder(Event).decode
decode_any = msgspec.json.Decoder(dict[str, Any]).decode


def lenient_event(raw: Raw) -> Event | None:
    """An event whose fields have unexpected types, with those fields left out; None when it is no object."""
    try:
        fields = decode_any(raw)
    except msgspec.ValidationError:
        return None
    args = fields.pop("args", None)
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
    return Event(**kept, args=_lenient_args(args) if isinstance(args, dict) else None)


def _lenient_args(args: dict[str, Any]) -> Args:
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(Args):
        value = args.get(field.encode_name)
        if field.type is Raw:
            if value is not None:
                kept[field.name] = Raw(msgspec.json.encode(value))
        elif _is_scalar(value):
            kept[field.name] = value
    return Args(**kept)


def _is_scalar(value: object) -> bool:
    return value is None or (isinstance(value, int | float | str) and not isinstance(value, bool))
