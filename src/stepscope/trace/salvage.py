"""Whole events out of a stretch of text in which something is broken.

The text is split where an event may end and the next begin. Runs of events are decoded at once; the
place that the decoder complains about leads to the broken one, which ``trace.repair`` tries to mend. The
work grows with the text and the number of faults, not with their product.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING

import msgspec

from stepscope.trace import limits, repair
from stepscope.trace.events import ExactEvent, decode_oddly

if TYPE_CHECKING:
    from stepscope.trace.repair import Repairs

BORDER = re.compile(rb'\}\s{0,64},\s{0,64}(?=\{\s{0,64}"[^"\\]{1,40}"\s{0,8}:)')
"""Where an event may end and the next begin. In valid JSON it cannot stand inside a string."""

END_OF_LIST = re.compile(rb"\}\s{0,64},?\s{0,64}(?=\])")
PLACE = re.compile(r"\(byte (\d+)\)")
OBJECT = json.JSONDecoder(strict=False)
RUN = 8
"""Events that are decoded together behind a broken one; the number doubles while all is well."""


def place_of(error: Exception) -> int | None:
    """Position in the text at which the decoder stopped, None when it does not say."""
    match = PLACE.search(str(error))
    return int(match.group(1)) - 1 if match else None


def end_of_list(array: bytes, error: Exception) -> int | None:
    """Position of the ``]`` of the list, when the decoder found whole events and something behind them."""
    if "trailing characters" not in str(error):
        return None
    place = place_of(error)
    found = array.rfind(b"]", 0, place) if place is not None else -1
    return found if found > 0 else None


class Salvage:
    """Reads one stretch of broken text.

    Args:
        text: Starts at an event.
        repairs: Counted into.
        offset: Number of events before the text.
        final: Whether the text goes to the end of the file.

    Attributes:
        events: What was read.
        rest: Position in the text up to which it was read; at a ``]`` when ``ended``.
        ended: Whether the list ends there.
    """

    def __init__(self, text: bytes, repairs: Repairs, offset: int, *, final: bool) -> None:
        self.events: list[ExactEvent] = []
        self.rest = len(text)
        self.ended = False
        self._text, self._repairs, self._offset, self._final = text, repairs, offset, final
        self._lost = 0
        borders = list(BORDER.finditer(text))
        self._starts = [0, *(border.end() for border in borders)]
        self._ends = [*(border.start() + 1 for border in borders), len(text)]

    def run(self) -> None:
        """Reads the text; the attributes hold what came out."""
        at, size, count = 0, RUN, len(self._starts)
        while at < count and not self.ended and self.rest == len(self._text):
            until = min(at + size, count)
            error = self._take(at, until)
            if error is None:
                at, size = until, size * 2
            elif until - at == 1:
                at, size = self._take_broken(at, error), RUN
            else:
                size = self._shorter(at, until, error)

    def _shorter(self, at: int, until: int, error: Exception) -> int:
        """How many events to try instead of those that were refused."""
        place = self._place(at, until, error)
        if place is None:
            return (until - at) // 2
        broken = bisect_right(self._starts, self._starts[at] + place, at, until) - 1
        return max(1, min(broken - at, until - at - 1))

    def _place(self, at: int, until: int, error: Exception) -> int | None:
        place = place_of(error)
        if place is not None:
            return max(place - 1, 0)
        try:
            self._text[self._starts[at] : self._ends[until - 1]].decode()
        except UnicodeDecodeError as wrong:
            return wrong.start
        return None

    def _take(self, at: int, until: int) -> Exception | None:
        """Takes a run of events in; what the decoder says when it refuses."""
        start = self._starts[at]
        array = b"[" + self._text[start : self._ends[until - 1]] + b"]"
        try:
            events, foreign = decode_oddly(array)
        except (msgspec.DecodeError, RecursionError) as error:
            end = end_of_list(array, error)
            if end is None:
                return error
            try:
                events, foreign = decode_oddly(array[: end + 1])
            except (msgspec.DecodeError, RecursionError) as inside:
                return inside
            self.rest, self.ended = start + end - 1, True
        for position in foreign:
            self._repairs.drop(self._position + position)
        self._lost += len(foreign)
        self.events += events
        return None

    @property
    def _position(self) -> int:
        return self._offset + len(self.events) + self._lost

    def _take_broken(self, at: int, error: Exception) -> int:
        """Mends, joins, keeps for later or drops one piece; returns the number of the next."""
        start, end = self._starts[at], self._ends[at]
        if self._mend(self._text[start:end]) or (
            at == len(self._starts) - 1 and self._take_last(start)
        ):
            return at + 1
        if "truncated" in str(error):
            joined = self._join(at)
            if joined is not None:
                return joined
            if not self._final and len(self._text) - start < limits.EVENT_BYTES:
                self.rest = start
                return at
        left = start + self._take_objects(self._text[start:end])
        if self._final and at == len(self._starts) - 1:
            self.rest = left
            return at
        if self._text[left:end].strip(b" \t\r\n,"):
            self._repairs.drop(self._position)
            self._lost += 1
        return at + 1

    def _take_objects(self, piece: bytes) -> int:
        """Takes in whole objects at the start that something other than one comma follows.

        Returns:
            Where the first unreadable text starts.
        """
        text = piece.decode("utf-8", "surrogateescape")
        at, opening = 0, text.find("{")
        while opening >= 0 and not text[at:opening].strip(" \t\r\n,"):
            try:
                end = OBJECT.raw_decode(text, opening)[1]
            except (ValueError, RecursionError):
                break
            if not self._mend(text[opening:end].encode("utf-8", "surrogateescape")):
                break
            at, opening = end, text.find("{", end)
        return len(text[:at].encode("utf-8", "surrogateescape"))

    def _mend(self, piece: bytes) -> bool:
        event, is_mended = repair.read_event(piece)
        if event is None:
            return False
        if is_mended:
            self._repairs.mend(self._position)
        self.events.append(event)
        return True

    def _take_last(self, start: int) -> bool:
        """A broken last event with the end of the list behind it."""
        for match in END_OF_LIST.finditer(self._text, start):
            if self._mend(self._text[start : match.start() + 1]):
                self.rest, self.ended = self._text.index(b"]", match.end()), True
                return True
        return False

    def _join(self, at: int) -> int | None:
        """An event that holds a list of objects looks like several: tries 2, 4, 8... pieces as one."""
        count, width = len(self._starts), 2
        while at + width // 2 < count:
            until = min(at + width, count)
            for last in range(at + width // 2 + 1, until + 1) if width <= RUN else (until,):
                error = self._take(at, last)
                if error is None:
                    return last
                if "truncated" not in str(error):
                    return None
            width *= 2
        return None
