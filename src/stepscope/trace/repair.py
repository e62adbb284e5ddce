"""One event out of text that is no valid JSON: what real writers got wrong, mended step by step.

Known faults, each seen in public files: unescaped quotes, backslashes and control characters in
names, invalid UTF-8, lone surrogates, bare ``NaN``, ``inf`` and ``N/A``, trailing commas. A mend that is
not needed is not made, so that an event loses no more than its fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from stepscope.trace.events import ExactEvent, decode_oddly

FIELD = rb'"(?:pid|ph|cat|tid|ts|dur|args|id|s|bp|name)"'
NAME = re.compile(
    rb'("name"\s{0,64}:\s{0,64}")(.*?)'
    rb'("\s{0,64},\s{0,64}' + FIELD + rb'\s{0,64}:|"\s{0,64}\}\s{0,64}\Z|"\s{0,64},?\s{0,64}\n)',
    re.DOTALL,
)
CONTROL = re.compile(rb"[\x00-\x1f]")
BARE = re.compile(rb"(:\s{0,64})(-?(?:NaN|nan|Infinity|inf|N/A))(?=\s{0,64}[,}\]])")
BARE_IN_LIST = re.compile(rb"([\[,]\s{0,64})(-?(?:NaN|nan|Infinity|inf))(?=\s{0,64}[,\]])")
TRAILING_COMMA = re.compile(rb",(\s{0,64}[}\]])")
ESCAPE = re.compile(rb'\\(?![\\"/bfnrtu])|\\(?=u(?![0-9a-fA-F]{4}))')
QUOTE = re.compile(rb'(?<!\\)"')
SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
CLOSES = re.compile(rb'"\s{0,64}(?:[}\]:]|,\s{0,64}["{\[\d-])')
LONGEST = 2**20
"""Longer text than this is not worth the search for stray quotes."""


@dataclass(slots=True)
class Repairs:
    """What was mended and what was lost.

    Attributes:
        mended: Events that were repaired.
        dropped: Events that could not be.
        first_mended, first_dropped: Position in the list of the first of each; None when there is none.
    """

    mended: int = 0
    dropped: int = 0
    first_mended: int | None = None
    first_dropped: int | None = None

    def mend(self, position: int) -> None:
        """Counts a repaired event."""
        self.mended += 1
        if self.first_mended is None:
            self.first_mended = position

    def drop(self, position: int) -> None:
        """Counts a lost event."""
        self.dropped += 1
        if self.first_dropped is None:
            self.first_dropped = position

    def add(self, other: Repairs, offset: int) -> None:
        """Takes in what was counted in a later part of the list that starts at ``offset``."""
        self.mended += other.mended
        self.dropped += other.dropped
        if self.first_mended is None and other.first_mended is not None:
            self.first_mended = other.first_mended + offset
        if self.first_dropped is None and other.first_dropped is not None:
            self.first_dropped = other.first_dropped + offset


def read_event(text: bytes) -> tuple[ExactEvent | None, bool]:
    """The event that the text is, and whether it had to be mended; None when it cannot be read."""
    event = _decode(text)
    if event is not None:
        return event, False
    for mend in MENDS:
        text = mend(text)
        event = _decode(text)
        if event is not None:
            return event, True
    return None, True


def _decode(text: bytes) -> ExactEvent | None:
    try:
        events, _ = decode_oddly(b"[" + text + b"]")
    except (msgspec.DecodeError, RecursionError):
        return None
    return events[0] if len(events) == 1 else None


def _utf8(text: bytes) -> bytes:
    text = text.decode("utf-8", "replace").encode()
    return SURROGATE.sub(lambda m: b"\\ufffd" if m.group(1) else m.group(0), text)


def _controls(text: bytes) -> bytes:
    return CONTROL.sub(b" ", text)


def _values(text: bytes) -> bytes:
    text = BARE_IN_LIST.sub(rb"\1null", BARE.sub(rb"\1null", text))
    return TRAILING_COMMA.sub(rb"\1", text)


def _escapes(text: bytes) -> bytes:
    return ESCAPE.sub(rb"\\\\", text)


def _name(text: bytes) -> bytes:
    """The name with its quotes escaped: it goes up to the quote that a known field follows."""

    def escape(match: re.Match[bytes]) -> bytes:
        return match.group(1) + QUOTE.sub(rb'\\"', match.group(2)) + match.group(3)

    return NAME.sub(escape, text, count=1)


def _quotes(text: bytes) -> bytes:
    """Every quote inside a string escaped that nothing follows which may stand behind a string."""
    if len(text) > LONGEST:
        return text
    out = bytearray()
    inside, position = False, 0
    for match in QUOTE.finditer(text):
        out += text[position : match.start()]
        position = match.end()
        if inside and not CLOSES.match(text, match.start()):
            out += b'\\"'
            continue
        out += b'"'
        inside = not inside
    return bytes(out + text[position:])


MENDS = (_utf8, _controls, _values, _escapes, _name, _quotes)
"""In this order, each on what the one before left."""
