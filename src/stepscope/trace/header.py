"""What stands around the list of events: devices, rank, clock, options."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from stepscope.trace.salvage import place_of

PHASE = b'"ph"'
OPTIONS = ("record_shapes", "with_stack", "profile_memory", "with_modules", "with_flops")
ENOUGH = (
    "deviceProperties",
    "distributedInfo",
    "baseTimeNanoseconds",
    "trace_id",
    "host_name",
    "schemaVersion",
    *OPTIONS,
)


class Header(Struct, frozen=True):
    """The keys beside ``traceEvents``.

    Attributes:
        values: Those that were read, by key; foreign values of any type.
        salvaged: Whether the text was not valid JSON and only the needed keys were picked out of it.
        keys: Names of all keys seen, for recognising foreign formats.
        more_events: Events behind the end of the list, which nobody reads.
    """

    values: dict[str, Any]
    salvaged: bool
    keys: frozenset[str]
    more_events: int = 0

    @property
    def base_ns(self) -> int | None:
        """Nanoseconds to add to every time, when the trace is relative to a stated base."""
        value = self.values.get("baseTimeNanoseconds")
        return value if type(value) is int and abs(value) < 2**62 else None

    @property
    def trace_id(self) -> str | None:
        """Unique id of the recording."""
        value = self.values.get("trace_id")
        return value if isinstance(value, str) and value else None


def parse(before: bytes, after: bytes) -> Header:
    """The keys before and after the list of events.

    Args:
        before: Text from ``{`` up to the key ``"traceEvents"``.
        after: Text behind the ``]`` of the list.
    """
    values: dict[str, Any] = {}
    salvaged = False
    for text in (before.strip().rstrip(b",") + b"}", b"{" + after.strip().lstrip(b",")):
        if text in (b"}", b"{", b"{}"):
            continue
        try:
            values.update(msgspec.json.decode(text, type=dict[str, Any]))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            salvaged = True
            values.update(_salvage(text))
    more = after.count(PHASE) if PHASE in after else 0
    return Header(values, salvaged, frozenset(values), more)


def _salvage(text: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in ENOUGH:
        for match in re.finditer(rb'"' + key.encode() + rb'"\s*:\s*', text):
            try:
                found[key] = _first_value(text[match.end() :])
            except (msgspec.DecodeError, RecursionError):
                continue
    return found


def _first_value(text: bytes) -> Any:  # noqa: ANN401  (a foreign JSON value)
    """The JSON value that the text starts with."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        end = place_of(error)
        if end is None or "trailing characters" not in str(error):
            raise
        return msgspec.json.decode(text[:end])
