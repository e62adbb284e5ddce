"""A recording as the text and the bytes of a trace file."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING

from stepscope.testing.clock import ClockText, base_ns
from stepscope.testing.events import EventWriter
from stepscope.testing.jsontext import Style

if TYPE_CHECKING:
    from stepscope.testing.events import JsonObject
    from stepscope.testing.form import Form
    from stepscope.testing.records import Recording

MEMBERS = 5

LINES = {
    "X": (("ph", "cat", "name", "pid", "tid"), ("ts", "dur"), ("args",)),
    "M": (("name", "ph", "ts", "pid", "tid"), ("args",)),
    "i": (("ph", "cat", "s", "name"), ("pid", "tid", "ts"), ("args",)),
    "s": (("ph", "id", "pid", "tid", "ts"), ("cat", "name", "bp")),
    "f": (("ph", "id", "pid", "tid", "ts"), ("cat", "name", "bp")),
}
"""Which fields kineto wrote on one line, by phase of the event."""


def to_text(recording: Recording, form: Form) -> str:
    """The trace as text.

    Args:
        recording: What was recorded.
        form: The layout, the clock and the spelling; its container is not looked at.
    """
    events = EventWriter(recording, form, _clock(recording, form)).all()
    before, after = _header(recording, form)
    if form.layout == "event-list":
        return Style().dump(events)
    if form.layout == "bare-list":
        return Style(key_order=form.key_order).dump(events)
    if form.layout.startswith("json"):
        return _style(form).dump({**before, "traceEvents": events, **after})
    return _in_lines(before, events, after, form)


def to_bytes(recording: Recording, form: Form) -> bytes:
    """The trace as the bytes of a file, in the form's container."""
    plain = to_text(recording, form).encode()
    if form.container == "plain":
        return plain
    if form.container == "gzip":
        return gzip.compress(plain, mtime=0)
    size = len(plain) // MEMBERS + 1
    pieces = [plain[at : at + size] for at in range(0, len(plain), size)]
    out = io.BytesIO()
    for piece in [*pieces[:2], b"", *pieces[2:]]:  # an empty member is allowed, and occurs
        out.write(gzip.compress(piece, mtime=0))
    return out.getvalue()


def _clock(recording: Recording, form: Form) -> ClockText:
    if form.layout == "event-list":
        return ClockText(clock="relative", keeps_zeros=False, origin_ns=recording.start_ns)
    origin = base_ns(recording.start_ns) if form.clock == "relative" else 0
    by_kineto = form.layout.startswith(("kineto", "python"))
    return ClockText(clock=form.clock, keeps_zeros=by_kineto, origin_ns=origin)


def _header(recording: Recording, form: Form) -> tuple[JsonObject, JsonObject]:
    """The keys before and those behind the events."""
    before: JsonObject = {"schemaVersion": 1, **recording.header}
    after: JsonObject = {}
    if form.layout == "python-lines":
        before.pop("trace_id", None)
    late = after if form.layout == "kineto-2021" else before
    late["displayTimeUnit"] = "ms"
    if form.clock == "relative":
        late["baseTimeNanoseconds"] = base_ns(recording.start_ns)
    after["traceName"] = "made.pt.trace.json"
    return ({}, {**before, **after}) if form.header_last else (before, after)


def _style(form: Form) -> Style:
    if form.layout == "json-compact":
        return Style(comma=",", colon=":", key_order=form.key_order)
    indent = 2 if form.layout == "json-indent" else None
    return Style(indent=indent, key_order=form.key_order)


def _in_lines(before: JsonObject, events: list[JsonObject], after: JsonObject, form: Form) -> str:
    """The layouts of kineto's and PyTorch's own writers."""
    head, tail = Style().fields(before), Style().fields(after)
    rows = ",\n".join(event_text(event, form) for event in events)
    if form.layout == "python-lines":
        top = "".join(f"{line},\n" for line in head)
        return f'{{\n{top}"traceEvents": [\n{rows}\n],\n' + ",\n".join(tail) + "\n}\n"
    if form.layout == "kineto-2026":
        top = "".join(f"    {line},\n" for line in head)
        return f' {{\n{top}    "traceEvents": [\n    \n{rows}\n  ],' + ", ".join(tail) + " }"
    opening = "\n{\n" if form.layout == "kineto-2021" else "\n  {\n"
    top = "".join(f"  {line},\n" for line in head)
    return f'{opening}{top}  "traceEvents": [\n{rows}\n  ],\n  ' + ",\n  ".join(tail) + "\n}\n"


def event_text(event: JsonObject, form: Form) -> str:
    """One event in the layouts that have lines of their own, without the comma behind it."""
    if form.layout == "python-lines":
        return Style(comma=",", colon=":", key_order=form.key_order).dump(event)
    if form.layout == "kineto-2026":
        return _one_field_a_line(event)
    return _few_fields_a_line(event)


def _args_block(event: JsonObject) -> str:
    args = event["args"]
    fields = Style().fields(args) if isinstance(args, dict) else []
    return '"args": {\n      ' + ", ".join(fields) + "\n    }"


def _few_fields_a_line(event: JsonObject) -> str:
    lines = []
    for names in LINES[str(event["ph"])]:
        present = {name: event[name] for name in names if name in event}
        if names == ("args",) and present:
            lines.append(_args_block(event))
        elif present:
            lines.append(", ".join(Style().fields(present)))
    return "  {\n    " + ",\n    ".join(lines) + "\n  }"


def _one_field_a_line(event: JsonObject) -> str:
    fields = Style().fields({key: value for key, value in event.items() if key != "args"})
    body = ",\n    ".join(fields)
    if "args" in event:
        body += (",\n    " if event["ph"] == "M" else "\n    ,\n    ") + _args_block(event)
    return "  {\n    " + body + "\n  }"
