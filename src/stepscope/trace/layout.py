"""From chunks of text to lists of events: finds the list, cuts it at event borders, decodes.

A border is a guess (``}``, comma, ``{``) that the decoder confirms: only a cut between two events
leaves valid JSON before it. Text that is no valid JSON goes to ``trace.repair``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from stepscope.errors import InputError, LimitError, NotATraceError
from stepscope.trace import limits, repair
from stepscope.trace.events import Event, decode_events, decode_raw, lenient_event
from stepscope.trace.header import Header, parse, trailing_at

if TYPE_CHECKING:
    from collections.abc import Iterator

EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
BORDER_TRIES = 64


@dataclass(slots=True)
class Layout:
    """Reads one file's text.

    Attributes:
        path: For messages.
        truncated: The list of events has no end; what was whole has been read.
        lost_bytes: Text at the end that held no whole event.
        repairs: What was repaired and dropped.
        count: Events read so far.
    """

    path: str
    truncated: bool = field(default=False, init=False)
    lost_bytes: int = field(default=0, init=False)
    repairs: repair.Repairs = field(default_factory=repair.Repairs, init=False)
    count: int = field(default=0, init=False)
    _before: bytes = field(default=b"", init=False)
    _after: bytes = field(default=b"", init=False)

    def events(self, chunks: Iterator[bytes]) -> Iterator[list[Event]]:
        """Lists of whole events in the order of the file.

        Raises:
            NotATraceError: The text has no list of events.
            LimitError: One event or the header is longer than the documented limit.
        """
        buffer = self._find_list(chunks)
        ended = False
        for chunk in chunks:
            if ended:
                self._keep_after(chunk)
                continue
            buffer += chunk
            if len(buffer) < limits.CHUNK_BYTES // 2:
                continue
            events, buffer, ended = self._cut(buffer)
            if ended:
                self._keep_after(buffer)
                buffer = b""
            if events:
                yield events
        if not ended:
            last = self._finish(buffer)
            if last:
                yield last

    def header(self) -> Header:
        """The keys around the list; call it after the events were read."""
        return parse(self._before, self._after)

    def _find_list(self, chunks: Iterator[bytes]) -> bytes:
        buffer = b""
        for chunk in chunks:
            buffer += chunk
            if buffer.lstrip()[:1] == b"[":
                return buffer.lstrip()[1:]
            for match in EVENTS_KEY.finditer(buffer):
                before = buffer[: match.start()]
                if _is_top_level(before):
                    self._before = before
                    return buffer[match.end() :]
            if len(buffer) > limits.HEADER_BYTES:
                raise LimitError("no list of events within the first 256 MiB", path=self.path)
        match_any = EVENTS_KEY.search(buffer)
        if match_any:
            self._before = buffer[: match_any.start()]
            return buffer[match_any.end() :]
        raise NotATraceError(*_recognise(buffer), path=self.path, way_out=NO_EVENTS_WAY_OUT)

    def _keep_after(self, chunk: bytes) -> None:
        self._after += chunk
        if len(self._after) > limits.HEADER_BYTES:
            raise LimitError("more than 256 MiB after the list of events", path=self.path)

    def _cut(self, buffer: bytes) -> tuple[list[Event], bytes, bool]:
        """Whole events at the start of the buffer, the rest, and whether the list ended."""
        for end, following in _borders(buffer):
            try:
                events = self._decode(buffer[:end])
            except msgspec.DecodeError as error:
                inside = _end_of_list(buffer[:end], error)
                if inside is not None:
                    return self._decode(buffer[:inside]), buffer[inside + 1 :], True
                continue
            return events, buffer[following:], False
        if len(buffer) < 2 * limits.CHUNK_BYTES:
            return [], buffer, False
        events, rest = repair.events(buffer, self.repairs, self.count, final=False)
        self.count += len(events)
        if not events and len(buffer) > limits.EVENT_BYTES:
            raise LimitError("an event is longer than 64 MiB", path=self.path, place=self._place())
        return events, rest, False

    def _finish(self, buffer: bytes) -> list[Event]:
        """The last piece: up to the end of the list, or as far as it is whole."""
        try:
            return self._decode(buffer.rstrip().removesuffix(b"]").rstrip().removesuffix(b","))
        except msgspec.DecodeError as error:
            inside = _end_of_list(buffer, error)
            if inside is not None:
                self._keep_after(buffer[inside + 1 :])
                return self._decode(buffer[:inside])
        events, rest = repair.events(buffer, self.repairs, self.count, final=True)
        self.count += len(events)
        if rest.lstrip()[:1] == b"]":
            self._keep_after(rest.lstrip()[1:])
        else:
            self.truncated = True
            self.lost_bytes = len(rest.strip().strip(b","))
        return events

    def _decode(self, text: bytes) -> list[Event]:
        """Events of text between two borders, field types checked."""
        array = b"[" + text + b"]"
        try:
            events = decode_events(array)
        except msgspec.ValidationError:
            events = self._decode_odd(array)
        except RecursionError:
            raise InputError(
                "is nested too deeply to be a trace", path=self.path, place=self._place()
            ) from None
        self.count += len(events)
        return events

    def _decode_odd(self, array: bytes) -> list[Event]:
        events = []
        for number, raw in enumerate(decode_raw(array)):
            event = lenient_event(raw)
            if event is None:
                self.repairs.drop(self.count + number)
            else:
                events.append(event)
        return events

    def _place(self) -> str:
        return f"$.traceEvents[{self.count}]"


NO_EVENTS_WAY_OUT = "give a trace that torch.profiler exported with export_chrome_trace"


def _is_top_level(before: bytes) -> bool:
    """Whether the text before the key is an object so far, and not the inside of a string or a child."""
    try:
        msgspec.json.decode(before + b'"traceEvents":[]}')
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _borders(buffer: bytes) -> Iterator[tuple[int, int]]:
    """Places from the end where one event may end and the next begin: (after ``}``, at ``{``)."""
    position = len(buffer)
    for _ in range(BORDER_TRIES):
        position = buffer.rfind(b"{", 0, position)
        if position < 0:
            return
        start = max(0, position - 64)
        before = buffer[start:position].rstrip()
        if not before.endswith(b","):
            continue
        before = before[:-1].rstrip()
        if before.endswith(b"}"):
            yield start + len(before), position


def _end_of_list(text: bytes, error: msgspec.DecodeError) -> int | None:
    """Where the ``]`` of the list stands, when the decoder found whole events and something behind them."""
    trailing = trailing_at(error)
    # The decoder saw one "[" before the text; behind the list stand at most spaces before what trails.
    return text.rfind(b"]", 0, trailing - 1) if trailing is not None else None


def _recognise(text: bytes) -> tuple[str]:
    """What a JSON text without a list of events is, as a sentence."""
    head = text[:4096]
    if b'"nodes"' in text[:1_000_000] and b'"schema"' in head:
        return ("is an execution trace (Chakra), which holds no times of a profile",)
    if b"rocprofiler-sdk-tool" in head:
        return ("is a rocprof result, not a trace of PyTorch's profiler",)
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return ("is neither a whole JSON text nor the start of a trace",)
    return ("is JSON without a list of trace events",)
