"""Events out of text that is no valid JSON: what real writers got wrong, mended event by event.

Known faults, each seen in public files: unescaped quotes, backslashes and control characters in
names, invalid UTF-8, bare ``NaN``, ``inf`` and ``N/A``, trailing commas, text cut anywhere.
An event that cannot be mended is dropped and counted; every other one is exact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec
from msgspec import Raw

from stepscope.trace.events import Event, decode_event, lenient_event

BORDER = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args|id|s|bp)"\s*:)')
END_OF_LIST = re.compile(rb"\}\s*,?\s*(?=\])")
NAME = re.compile(
    rb'("name"\s*:\s*")(.*?)("\s*,\s*"(?:pid|ph|cat|tid|ts|dur|args|id|s|bp)"\s*:|"\s*\}\s*$|"\s*,?\s*\n)',
    re.DOTALL,
)
CONTROL = re.compile(rb"[\x00-\x1f]")
BARE = re.compile(rb"(:\s*)(-?(?:NaN|nan|Infinity|inf|N/A))(?=\s*[,}\]])")
TRAILING_COMMA = re.compile(rb",(\s*[}\]])")
ESCAPE = re.compile(rb"\\(?![\"\\/bfnrtu])|\\u(?![0-9a-fA-F]{4})")


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
    first_mended: int | None = field(default=None)
    first_dropped: int | None = field(default=None)

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


def events(
    buffer: bytes, repairs: Repairs, offset: int, *, final: bool
) -> tuple[list[Event], bytes]:
    """Whole events at the start of text in which something is broken.

    Args:
        buffer: Text that starts at an event.
        repairs: Counted into.
        offset: Number of events before the buffer.
        final: Whether the text goes to the end of the file.

    Returns:
        The events, and the text behind the last whole one: it starts with ``]`` when the list ended,
        with an unfinished event otherwise.
    """
    found: list[Event] = []
    start = 0
    for border in BORDER.finditer(buffer):
        _take(buffer[start : border.start() + 1], found, repairs, offset)
        start = border.end()
    rest = buffer[start:]
    if not final:
        return found, rest
    for end in END_OF_LIST.finditer(rest):
        piece = rest[: end.start() + 1]
        event, mended = _read(piece)
        if event is not None:
            if mended:
                repairs.mend(offset + len(found))
            found.append(event)
            return found, rest[end.end() :]
    return found, rest


def _take(piece: bytes, found: list[Event], repairs: Repairs, offset: int) -> None:
    event, mended = _read(piece)
    position = offset + len(found) + repairs.dropped
    if event is None:
        repairs.drop(position)
        return
    if mended:
        repairs.mend(position)
    found.append(event)


def _read(piece: bytes) -> tuple[Event | None, bool]:
    """The event that the text is, and whether it had to be mended; None when it cannot be read."""
    event = _decode(piece)
    if event is not None:
        return event, False
    return _decode(_mend(piece)), True


def _decode(piece: bytes) -> Event | None:
    try:
        return decode_event(piece)
    except msgspec.ValidationError:
        return lenient_event(Raw(piece))
    except (msgspec.DecodeError, RecursionError):
        return None


def _mend(piece: bytes) -> bytes:
    """The text with what real writers get wrong put right."""
    text = piece.decode("utf-8", "replace").encode()
    text = NAME.sub(_mend_name, text, count=1)
    text = BARE.sub(rb"\1null", text)
    text = TRAILING_COMMA.sub(rb"\1", text)
    return CONTROL.sub(b" ", text)


def _mend_name(match: re.Match[bytes]) -> bytes:
    """The name with its quotes, backslashes and control characters escaped."""
    name = ESCAPE.sub(rb"\\\\", match.group(2))
    name = re.sub(rb'(?<!\\)"', rb'\\"', name)
    name = CONTROL.sub(b" ", name)
    return match.group(1) + name + match.group(3)
