"""The Report as a file: ``report.json``, written, read back and described as a JSON Schema."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import msgspec

from stepscope.errors import InputError
from stepscope.report.whole import write_whole
from stepscope.schema.report import DEVICE_PARTS, HOST_PARTS, SCHEMA_VERSION, Report

if TYPE_CHECKING:
    from stepscope.schema.light_report import LightReport

_PLACE: Final = re.compile(r"^(?P<what>.*?)(?: - at `(?P<place>[^`]*)`)?$", re.DOTALL)
_BYTE: Final = re.compile(r"\(byte (\d+)\)")
_AGAIN: Final = "make it again with stepscope analyze PATH --json report.json"


def encode(report: Report | LightReport) -> bytes:
    """The report as UTF-8 JSON in one line, with a newline at its end.

    Raises:
        ValueError: A number in it is NaN or infinite; ``None`` is the only form of "not measured".
    """
    _refuse_not_finite(msgspec.to_builtins(report), "$")
    return msgspec.json.encode(report) + b"\n"


def save(report: Report | LightReport, target: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write a report to a path or to a binary file.

    A path is replaced in one move, so that a reader never sees half a report.

    Raises:
        InputError: The path cannot be written.
    """
    data = encode(report)
    if not isinstance(target, (str, os.PathLike)):
        target.write(data)
        return
    write_whole(Path(target), data)


def load(path: str | os.PathLike[str]) -> Report:
    """Read a report that :func:`save` wrote.

    Raises:
        InputError: The file is missing, is no report, is damaged, or has another version's form;
            the text names the place.
    """
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror})", path=name) from error
    return decode(data, name)


def decode(data: bytes, name: str = "") -> Report:
    """The report that ``data`` holds.

    Args:
        data: UTF-8 JSON.
        name: What errors call the file.

    Raises:
        InputError: See :func:`load`.
    """
    _recognise(data, name)
    try:
        report = msgspec.json.decode(data, type=Report)
    except msgspec.ValidationError as error:
        match = _PLACE.match(str(error))
        what, place = (match["what"], match["place"] or "$") if match else (str(error), "$")
        raise InputError(
            f"the report is damaged: {what[:1].lower()}{what[1:]}",
            path=name,
            place=place,
            way_out=_AGAIN,
        ) from error
    _check(report, name)
    return report


def _recognise(data: bytes, name: str) -> None:
    """Refuse what is no report of this version, in words that say what it is instead."""
    if not data.strip():
        raise InputError("the file is empty, not a stepscope report", path=name)
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        byte = _BYTE.search(str(error))
        place = f"byte {byte[1]}" if byte else f"byte {len(data)}"
        raise InputError("the file is not whole JSON", path=name, place=place) from error
    if not isinstance(document, dict) or "schema_version" not in document:
        is_trace = isinstance(document, dict) and "traceEvents" in document
        raise InputError(
            f"the file is {'a trace' if is_trace else 'some other JSON'}, not a stepscope report",
            path=name,
            way_out="make a report of a trace with stepscope analyze TRACE --json report.json",
        )
    version = document["schema_version"]
    if version != SCHEMA_VERSION:
        raise InputError(
            f"the report has version {version!r} of the form, and this stepscope reads version {SCHEMA_VERSION}",
            path=name,
            place="$.schema_version",
            way_out=_AGAIN,
        )


def _check(report: Report, name: str) -> None:
    """Refuse a report that breaks a promise which types alone cannot hold."""
    if not report.ranks:
        raise InputError("the report is damaged: it has no rank", path=name, place="$.ranks")
    for position, rank in enumerate(report.ranks):
        place = f"$.ranks[{position}]"
        keys = set(rank.parts_ms)
        if not keys <= set(DEVICE_PARTS) and not keys <= set(HOST_PARTS):
            raise InputError(
                "the report is damaged: unknown parts of a step",
                path=name,
                place=f"{place}.parts_ms",
                way_out=_AGAIN,
            )
        steps = rank.steps
        lengths = {len(steps.startup), len(steps.partial), steps.count}
        if steps.count and lengths != {len(steps.durations_ms)}:
            raise InputError(
                "the report is damaged: the lists of steps differ in length",
                path=name,
                place=f"{place}.steps",
                way_out=_AGAIN,
            )


def _refuse_not_finite(value: object, place: str) -> None:
    """Raise ValueError with the place of the first number that JSON cannot hold."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"the report holds {value} at {place}, which JSON cannot say")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _refuse_not_finite(inner, f"{place}.{key}")
    elif isinstance(value, (list, tuple)):
        for position, inner in enumerate(value):
            _refuse_not_finite(inner, f"{place}[{position}]")
