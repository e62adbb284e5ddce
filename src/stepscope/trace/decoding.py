"""From pieces of text to columns: the compiled core for healthy text, else Python, event by event where it is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from stepscope.errors import LimitError
from stepscope.trace import compiled, limits
from stepscope.trace.events import decode_events, decode_oddly
from stepscope.trace.extract import Inexact
from stepscope.trace.repair import Repairs
from stepscope.trace.salvage import Salvage, end_of_list

if TYPE_CHECKING:
    from stepscope.trace.columns import Columns

PYTHON_CATEGORY = (b'"cat": "python_function"', b'"cat":"python_function"')
COMPACT = b'"cat":"'
STYLE_BYTES = 4096
PHASE = b'"ph"'


class Taken(Struct, frozen=True):
    """How far a piece was read.

    Attributes:
        rest: Position up to which it was read; at the ``]`` of the list when ``ended``.
        ended: Whether the list of events ends there.
    """

    rest: int
    ended: bool


class Decoding:
    """Decodes the pieces of one file, in order.

    Args:
        columns: Where the events go.
        path: For messages.

    Attributes:
        count: Entries of the list so far.
        repairs: What was mended and dropped.
    """

    def __init__(self, columns: Columns, path: str) -> None:
        self.columns = columns
        self.path = path
        self.count = 0
        self.repairs = Repairs()
        self._reads_text = False
        self._most_rows: int | None = None

    def take(self, array: bytes, *, final: bool) -> Taken:
        """Decodes one piece.

        Args:
            array: Text between ``[`` and ``]`` that starts at an event and ends behind one; with ``final``
                it goes on to the file's end, without a ``]`` of our own.
            final: Whether it is the last.

        Returns:
            How far the text behind the ``[`` was read.

        Raises:
            LimitError: The tables grow beyond what this machine's memory can hold.
        """
        self._refuse_many_rows()
        length = len(array) - (1 if final else 2)
        piece = compiled.decode(array, with_python=self.columns.with_python)
        if piece is not None:
            self.columns.take_in(piece.columns)
            self.count += piece.count
            return Taken(piece.length - 2, ended=final or piece.length < len(array))
        if not final and not self.columns.with_python and self._skip_python(array):
            return Taken(length, ended=False)
        try:
            self._add(array)
        except (msgspec.DecodeError, RecursionError) as error:
            end = end_of_list(array, error)
            if end is None or not self._adds(array[: end + 1]):
                return self._salvage(array[1 : 1 + length], final=final)
            return Taken(end - 1, ended=True)
        return Taken(length, ended=final)

    def _refuse_many_rows(self) -> None:
        rows = self.columns.rows
        if rows <= min(limits.FEW_ROWS, limits.ROWS):
            return
        if self._most_rows is None:
            self._most_rows = limits.most_rows()
        if rows > self._most_rows:
            raise LimitError(
                f"its tables would have more than {self._most_rows} rows, for which the memory is not there",
                path=self.path,
                way_out="record fewer steps",
            )

    def _skip_python(self, text: bytes) -> bool:
        """Whether the piece is nothing but Python frames, which were counted without being decoded."""
        start = text[:STYLE_BYTES]
        category = PYTHON_CATEGORY[COMPACT in start]
        if category not in start:
            return False
        count = text.count(category)
        if count != text.count(PHASE):
            return False
        self.columns.skip_python(count)
        self.count += count
        return True

    def _add(self, array: bytes) -> None:
        if not self._reads_text:
            try:
                events = decode_events(array)
                self.columns.add(events)
            except (msgspec.ValidationError, Inexact) as reason:
                self._reads_text = isinstance(reason, Inexact)
            else:
                self.count += len(events)
                return
        exact, foreign = decode_oddly(array)
        self.columns.add(exact)
        for position in foreign:
            self.repairs.drop(self.count + position)
        self.count += len(exact) + len(foreign)

    def _adds(self, array: bytes) -> bool:
        """Whether the whole list can be taken as it is; nothing of it was when it cannot."""
        try:
            self._add(array)
        except (msgspec.DecodeError, RecursionError):
            # Where a list ends is told by its brackets; only now are its texts looked at.
            return False
        return True

    def _salvage(self, text: bytes, *, final: bool) -> Taken:
        dropped = self.repairs.dropped
        salvage = Salvage(text, self.repairs, self.count, final=final)
        salvage.run()
        self.columns.add(salvage.events)
        self.count += len(salvage.events) + self.repairs.dropped - dropped
        return Taken(salvage.rest, salvage.ended)
