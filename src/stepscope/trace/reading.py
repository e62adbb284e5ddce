"""The text of one file into raw columns, by one process or by several."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from stepscope.trace import splitting
from stepscope.trace.ahead import read_ahead
from stepscope.trace.columns import Columns
from stepscope.trace.cores import usable_cores
from stepscope.trace.decoding import Decoding
from stepscope.trace.layout import Layout
from stepscope.trace.repair import Repairs
from stepscope.trace.source import STANDARD_INPUT, Source
from stepscope.trace.workers import MOST_WORKERS, NeedsOneReader, decode_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stepscope.trace.header import Header
    from stepscope.trace.worker import Batch

    Told = Callable[[int], None]

T = TypeVar("T")


class Text(Struct, frozen=True):
    """What reading the text of a file gave.

    Attributes:
        columns: Its events.
        header: The keys around them.
        truncated: It, or the compressed stream around it, ends before its time.
        lost_bytes: Text at the end that held no whole event.
        trailing_junk: Bytes behind the compressed trace.
        repairs: What was mended and lost.
    """

    columns: Columns
    header: Header
    truncated: bool
    lost_bytes: int
    trailing_junk: int
    repairs: Repairs


def read_text(path: str, *, with_python: bool, told: Told | None = None) -> Text:
    """Reads the text of a file.

    Args:
        path: As ``trace.file.read`` takes it.
        with_python: Whether Python frames are wanted.
        told: Called with the bytes of the file read so far, from any thread.

    Raises:
        InputError: It cannot be read or is something else.
    """
    if splitting.is_worth_it(path) and (cores := _cores()) > 1:
        try:
            return _by_several(path, cores, with_python=with_python, told=told)
        except NeedsOneReader:
            pass
    return _by_one(path, with_python=with_python, told=told)


def _cores() -> int:
    """Those of this process; one of a pool has its core, the others belong to the rest of the pool."""
    from multiprocessing import parent_process  # noqa: PLC0415  (few traces are so large)

    return min(usable_cores(), MOST_WORKERS) if parent_process() is None else 1


def _telling(items: Iterable[T], position: Callable[[T], int], told: Told | None) -> Iterator[T]:
    """The same items; says how far they are each time that one is taken."""
    for item in items:
        if told:
            told(position(item))
        yield item


def _by_one(path: str, *, with_python: bool, told: Told | None) -> Text:
    source, layout = Source(path), Layout(path)
    columns = Columns(with_python=with_python)
    decoding = Decoding(columns, path)
    if path == STANDARD_INPUT:
        layout.read(source.chunks(), decoding)
    else:
        with read_ahead(source.chunks()) as chunks:
            layout.read(_telling(chunks, lambda _: source.bytes_read, told), decoding)
    return Text(
        columns,
        layout.header(),
        layout.truncated or source.truncated,
        layout.lost_bytes,
        source.trailing_junk,
        decoding.repairs,
    )


def _by_several(path: str, workers: int, *, with_python: bool, told: Told | None) -> Text:
    source, layout = Source(path), Layout(path)
    batches = splitting.batches(source, layout, with_python=with_python)

    def position(batch: Batch) -> int:
        return source.bytes_read if batch.text else batch.start

    parts = decode_all(_telling(batches, position, told), workers)
    columns = Columns(with_python=with_python)
    repairs, count = Repairs(), 0
    last = parts[-1]
    for number, part in enumerate(parts):
        columns.take_in(part.columns)
        repairs.add(part.repairs, count)
        count += part.count
        parts[number] = last  # each part's memory is free once it was taken in
    layout.keep_after(last.after)
    return Text(
        columns,
        layout.header(),
        last.truncated or source.truncated,
        last.lost_bytes,
        source.trailing_junk,
        repairs,
    )
