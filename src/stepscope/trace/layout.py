"""From chunks of text to pieces of whole events: finds the list of events and cuts it between two of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from stepscope.errors import LimitError, NotATraceError
from stepscope.trace import limits
from stepscope.trace.foreign import NO_EVENTS_WAY_OUT, recognise, refuse_document
from stepscope.trace.header import Header, parse
from stepscope.trace.salvage import BORDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stepscope.trace.decoding import Decoding

EVENTS_KEY = re.compile(rb'"traceEvents"\s{0,64}:\s{0,64}\[')
LONGEST_KEY = 200
MOST_KEYS = 64
"""Places that look like the key of the list but stand inside something else."""


class Layout:
    """Reads one file's text.

    Args:
        path: For messages.

    Attributes:
        truncated: The list of events has no end; what was whole has been read.
        lost_bytes: Text at the end that held no whole event.
        is_whole: Whether everything was read, and the list went on to the end of the text or ended in the
            file's last stretch.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.truncated = False
        self.lost_bytes = 0
        self.is_whole = True
        self._before = b""
        self._after: list[bytes] = []
        self._after_bytes = 0

    def read(self, chunks: Iterator[bytes], decoding: Decoding) -> None:
        """Hands all events to the decoding, in the order of the file.

        Raises:
            NotATraceError: The text has no list of events.
            LimitError: One event or the header is longer than the documented limit.
        """
        buffer = self.find_list(chunks)
        self.read_list(buffer, chunks, decoding)

    def read_list(
        self, buffer: bytes, chunks: Iterator[bytes], decoding: Decoding, *, final: bool = True
    ) -> None:
        """As :meth:`read`, from text that starts behind the ``[`` of the list or at an event.

        Without ``final`` the text ends behind an event somewhere in the list.
        """
        kept = 0
        for chunk in chunks:
            if len(buffer) + len(chunk) < max(limits.PIECE_BYTES, 2 * kept):
                buffer += chunk
                continue
            text, border = chunk, last_border(chunk)
            if border is None:
                # It may lie across the chunk's start.
                buffer, text = b"", buffer + chunk
                border = last_border(text)
            if border is None:
                self._refuse_endless(text)
                buffer = text
                continue
            # The text is copied once and no more: copies take a good part of the time of decoding.
            array = b"".join((b"[", buffer, memoryview(text)[: border[0]], b"]"))
            taken = decoding.take(array, final=False)
            kept = len(array) - 2 - taken.rest
            if taken.ended:
                self.is_whole = final
                self.keep_after(array[2 + taken.rest : -1] + text[border[0] :])
                for following in chunks:
                    self.keep_after(following)
                return
            buffer = array[1 + taken.rest : -1] + text[border[0] :] if kept else text[border[1] :]
        if final:
            self._finish(buffer, decoding)
        elif buffer:
            taken = decoding.take(b"[" + buffer + b"]", final=False)
            self.is_whole = not taken.ended and taken.rest == len(buffer)

    @property
    def after(self) -> bytes:
        """Text behind the list."""
        return b"".join(self._after)

    def header(self) -> Header:
        """The keys around the list; call it after the events were read."""
        return parse(self._before, self.after)

    def find_list(self, chunks: Iterator[bytes]) -> bytes:
        """Reads up to the list of events; returns what was read of the list itself."""
        buffer = b""
        searched = tries = 0
        for chunk in chunks:
            buffer += chunk
            if buffer.lstrip()[:1] == b"[":
                refuse_document(buffer, self.path)
                return buffer.lstrip()[1:]
            if not searched:
                refuse_document(buffer, self.path)
            for match in EVENTS_KEY.finditer(buffer, searched):
                tries += 1
                if tries > MOST_KEYS or _is_top_level(buffer[: match.start()]):
                    self._before = buffer[: match.start()]
                    return buffer[match.end() :]
            searched = max(len(buffer) - LONGEST_KEY, 1)
            if len(buffer) > limits.HEADER_BYTES:
                raise LimitError(
                    f"no list of events within the first {limits.HEADER_BYTES >> 20} MiB",
                    path=self.path,
                    way_out=NO_EVENTS_WAY_OUT,
                )
        first = EVENTS_KEY.search(buffer)
        if first:  # the header before it is broken
            self._before = buffer[: first.start()]
            return buffer[first.end() :]
        raise NotATraceError(recognise(buffer), path=self.path, way_out=NO_EVENTS_WAY_OUT)

    def keep_after(self, chunk: bytes) -> None:
        """Text behind the list.

        Raises:
            LimitError: There is more of it than the documented limit.
        """
        self._after.append(chunk)
        self._after_bytes += len(chunk)
        if self._after_bytes > limits.HEADER_BYTES:
            raise LimitError(
                f"more than {limits.HEADER_BYTES >> 20} MiB after the list of events",
                path=self.path,
            )

    def _refuse_endless(self, buffer: bytes) -> None:
        if len(buffer) > limits.EVENT_BYTES:
            raise LimitError(
                f"no event ends within {limits.EVENT_BYTES >> 20} MiB",
                path=self.path,
                way_out="the file is damaged, or was not written by PyTorch's profiler",
            )

    def _finish(self, buffer: bytes, decoding: Decoding) -> None:
        """The last piece: up to the end of the list, or as far as it is whole."""
        taken = decoding.take(b"[" + buffer, final=True)
        if taken.ended:
            self.keep_after(buffer[taken.rest + 1 :])
        else:
            self.truncated = True
            self.lost_bytes = len(buffer[taken.rest :].strip(b" \t\r\n,"))


def last_border(buffer: bytes) -> tuple[int, int] | None:
    """The last place where one event may end and the next begin: (behind ``}``, at ``{``)."""
    position = len(buffer)
    while True:
        position = buffer.rfind(b"{", 0, position)
        if position < 0:
            return None
        start = max(0, position - 132)
        before = buffer[start:position].rstrip()
        if not before.endswith(b","):
            continue
        before = before[:-1].rstrip()
        if before.endswith(b"}"):
            end = start + len(before)
            match = BORDER.match(buffer, end - 1)
            if match:
                return end, match.end()


def _is_top_level(before: bytes) -> bool:
    """Whether the text before the key is an object so far, and not the inside of a string or a child."""
    try:
        msgspec.json.decode(before + b'"traceEvents":[]}')
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
