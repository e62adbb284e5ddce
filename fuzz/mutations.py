"""Ways to damage a trace: its bytes, its tokens, its events, its container."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

NUMBER = re.compile(rb"(?<=[:\[ ,])-?\d+(?:\.\d+)?")
STRING = re.compile(rb'"[^"\\]{0,60}"')
STRUCTURE = re.compile(rb'[{}\[\],:"]')
NUMBERS: tuple[bytes, ...] = (
    b"-1",
    b"0",
    b"0.000",
    b"1e308",
    b"-1e308",
    b"9" * 30,
    b"18446744073709551615",
    b"4294967295",
)
NUMBERS += (
    b"-9223372036854775808",
    b"9223372036854775807",
    b"NaN",
    b"-Infinity",
    b"null",
    b"true",
    b"1.5",
)
NUMBERS += (
    b'"12"',
    b'"N/A"',
    b"[]",
    b"{}",
    b"[1,2]",
    b'{"a":1}',
    b"2305843009213693951",
    b"1e-320",
    b"01",
)
STRINGS: tuple[bytes, ...] = (
    b'""',
    b"null",
    b"5",
    b'"\xff\xfe"',
    b'"a"b"',
    b'"\\ud800"',
    b'"a\nb"',
    b'"\\x"',
    b'"' + b"n" * 70_000 + b'"',
)
STRINGS += (
    b'"ProfilerStep#99999999999999999999"',
    b'"ProfilerStep#1"',
    b'"kernel"',
    b'"cpu_op"',
    b'"gpu_memcpy"',
)
STRINGS += (
    b'"traceEvents"',
    b'"X"',
    b'"M"',
    b'"f"',
    b'"user_annotation"',
    b'"ts"',
    b'"dur"',
    b'"stream 7"',
    b'"\\u0000"',
)
PIECES: tuple[bytes, ...] = (
    b"",
    b",",
    b"}",
    b"{",
    b"]",
    b"[",
    b'"',
    b"\0",
    b"\xef\xbb\xbf",
    b"}, {",
    b'{"ph": "X"}',
    b"[" * 3000,
    b"\\",
)
TIMES: tuple[Any, ...] = (
    -1,
    0,
    0.0,
    -(10**15),
    10**15,
    4 * 10**12,
    10**18,
    10**30,
    1e300,
    "5",
    "x",
    None,
    [],
    0.0004,
    1e-9,
)
CATEGORIES: tuple[str, ...] = (
    "kernel",
    "cpu_op",
    "cuda_runtime",
    "gpu_memcpy",
    "user_annotation",
    "Trace",
    "python_function",
)
CATEGORIES += ("cpu_instant_event", "mtia_ccp_events", "ac2g", "", "overhead", "strange")


def mutated(data: bytes, chance: Random) -> bytes:
    """The trace damaged one to four times, in a plain or gzip container that may be damaged too."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 4))):
        data = chance.choice(MUTATIONS)(data, chance)
    kind = chance.random()
    if kind < 0.7:
        return data
    if kind < 0.8:
        return gzip.compress(data, 1)
    if kind < 0.9:
        cut = chance.randrange(len(data) + 1)
        return gzip.compress(data[:cut], 1) + gzip.compress(data[cut:], 1)
    return _flip(gzip.compress(data, 1), chance)


def _span(data: bytes, chance: Random, longest: int = 400) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.randrange(longest))


def _flip(data: bytes, chance: Random) -> bytes:
    out = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        if out:
            out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def _delete(data: bytes, chance: Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + data[end:]


def _repeat(data: bytes, chance: Random) -> bytes:
    start, end = _span(data, chance)
    return data[:end] + data[start:end] * chance.randrange(1, 4) + data[end:]


def _move(data: bytes, chance: Random) -> bytes:
    start, end = _span(data, chance)
    rest = data[:start] + data[end:]
    at = chance.randrange(len(rest) + 1)
    return rest[:at] + data[start:end] + rest[at:]


def _insert(data: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice((*PIECES, chance.randbytes(8))) + data[at:]


def _cut(data: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _replace(
    pattern: re.Pattern[bytes], choices: tuple[bytes, ...]
) -> Callable[[bytes, Random], bytes]:
    def replace(data: bytes, chance: Random) -> bytes:
        found = list(pattern.finditer(data))
        for match in sorted(
            chance.sample(found, min(len(found), chance.randrange(1, 4))), key=_start, reverse=True
        ):
            data = data[: match.start()] + chance.choice(choices) + data[match.end() :]
        return data

    return replace


def _start(match: re.Match[bytes]) -> int:
    return match.start()


def _of_events(change: Callable[[list[Any], Random], object]) -> Callable[[bytes, Random], bytes]:
    """A change of the parsed events; text that is broken already stays as it is."""

    def changed(data: bytes, chance: Random) -> bytes:
        try:
            whole = json.loads(data)
            events = whole["traceEvents"] if isinstance(whole, dict) else whole
        except (ValueError, KeyError, RecursionError):
            return data
        if not isinstance(events, list) or not events:
            return data
        change(events, chance)
        return json.dumps(whole, indent=chance.choice((None, None, 1))).encode(
            "utf-8", "surrogatepass"
        )

    return changed


def _some(events: list[Any], chance: Random) -> list[dict[str, Any]]:
    count = chance.choice((1, 3, len(events) // 3 + 1, len(events)))
    chosen = chance.sample(events, min(count, len(events)))
    return [event for event in chosen if isinstance(event, dict)]


def _set_field(events: list[Any], chance: Random) -> None:
    key = chance.choice(("ts", "dur", "ts", "dur", "pid", "tid", "name", "args", "ph", "id"))
    for event in _some(events, chance):
        event[key] = chance.choice(TIMES)


def _set_category(events: list[Any], chance: Random) -> None:
    category = chance.choice(CATEGORIES)
    for event in _some(events, chance):
        event["cat"] = category


def _set_argument(events: list[Any], chance: Random) -> None:
    keys: tuple[str, ...] = (
        "correlation",
        "External id",
        "Ev Idx",
        "device",
        "stream",
        "bytes",
        "grid",
        "Input Dims",
    )
    keys += (
        "Collective name",
        "Group size",
        "finished",
        "Total Allocated",
        "Bytes",
        "Rank",
        "est. achieved occupancy %",
    )
    for event in _some(events, chance):
        args = event.setdefault("args", {})
        if isinstance(args, dict):
            args[chance.choice(keys)] = chance.choice((*TIMES, [3, 4, 5], "a", False))


def _shift(events: list[Any], chance: Random) -> None:
    by = chance.choice((-1, 1, 1e6, -1e6, 1e12, 1e15))
    for event in _some(events, chance):
        if isinstance(event.get("ts"), int | float):
            event["ts"] += by


def _stretch(events: list[Any], chance: Random) -> None:
    by = chance.choice((0, 0.1, 10, 1e4, 1e9, -1))
    for event in _some(events, chance):
        if isinstance(event.get("dur"), int | float):
            event["dur"] *= by


def _drop_keys(events: list[Any], chance: Random) -> None:
    for event in _some(events, chance):
        if event:
            event.pop(chance.choice(list(event)))


def _reorder(events: list[Any], chance: Random) -> None:
    chance.shuffle(events)


def _multiply(events: list[Any], chance: Random) -> None:
    events += [dict(event) for event in _some(events, chance)]


MUTATIONS: tuple[Callable[[bytes, Random], bytes], ...] = (
    _flip,
    _delete,
    _repeat,
    _move,
    _insert,
    _cut,
    _replace(NUMBER, NUMBERS),
    _replace(STRING, STRINGS),
    _replace(STRUCTURE, PIECES),
    *(
        _of_events(change)
        for change in (
            _set_field,
            _set_field,
            _set_category,
            _set_argument,
            _shift,
            _stretch,
            _drop_keys,
            _reorder,
            _multiply,
        )
    ),
)
