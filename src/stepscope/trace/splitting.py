"""Where a large file is cut into batches that can be decoded apart from each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.trace import limits
from stepscope.trace.foreign import BYTE_ORDER_MARK
from stepscope.trace.layout import Layout, last_border
from stepscope.trace.salvage import BORDER
from stepscope.trace.source import GZIP, STANDARD_INPUT, Source, is_address
from stepscope.trace.worker import Batch
from stepscope.trace.workers import NeedsOneReader

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPRESSION = 8
"""Text is at least this many times longer than the compressed file."""
WINDOW_BYTES = 2**18


def is_worth_it(path: str) -> bool:
    """Whether the file is so long that several processes pay."""
    if path == STANDARD_INPUT or is_address(path):
        return False
    try:
        if not Path(path).is_file():  # a pipe can be read once only
            return False
        size = Path(path).stat().st_size
        with Path(path).open("rb") as file:
            start = file.read(len(BYTE_ORDER_MARK))
    except (OSError, ValueError):
        return False
    if start == BYTE_ORDER_MARK:
        return False
    return size * (COMPRESSION if start.startswith(GZIP) else 1) >= limits.PARALLEL_BYTES


def batches(source: Source, layout: Layout, *, with_python: bool) -> Iterator[Batch]:
    """The batches of a file, in order; the last one goes on to the end of the file.

    Args:
        source: The file, not read yet.
        layout: Takes the header in.
        with_python: Whether Python frames are wanted.

    Raises:
        InputError: As :meth:`Source.chunks` and :meth:`Layout.find_list`.
        NeedsOneReader: There is no place to cut.
    """
    read = 0

    def counted() -> Iterator[bytes]:
        nonlocal read
        for chunk in source.chunks():
            read += len(chunk)
            yield chunk

    chunks = counted()
    buffer = layout.find_list(chunks)
    path = source.path
    if source.is_gzip:
        yield from _of_text(buffer, chunks, path, with_python=with_python)
        return
    start = read - len(buffer)
    for end, following in _cuts(path, start):
        yield Batch(path, None, start, end, is_final=False, with_python=with_python)
        start = following
    yield Batch(path, None, start, None, is_final=True, with_python=with_python)


def _cuts(path: str, start: int) -> Iterator[tuple[int, int]]:
    """Places about ``limits.BATCH_BYTES`` apart: (behind an event, at the next)."""
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        at = start + limits.BATCH_BYTES
        while at + limits.BATCH_BYTES < size:
            file.seek(at)
            window = file.read(WINDOW_BYTES)
            found = BORDER.search(window)
            while found is None:
                more = file.read(WINDOW_BYTES)
                if not more or len(window) > limits.EVENT_BYTES:
                    raise NeedsOneReader
                window += more
                found = BORDER.search(window)
            yield at + found.start() + 1, at + found.end()
            at += found.end() + limits.BATCH_BYTES


def _of_text(
    buffer: bytes, chunks: Iterator[bytes], path: str, *, with_python: bool
) -> Iterator[Batch]:
    held, length = [buffer], len(buffer)
    for chunk in chunks:
        held.append(chunk)
        length += len(chunk)
        if length < limits.BATCH_BYTES:
            continue
        text = b"".join(held)
        border = last_border(text)
        if border is None:
            raise NeedsOneReader
        yield Batch(path, text[: border[0]], 0, None, is_final=False, with_python=with_python)
        held, length = [text[border[1] :]], len(text) - border[1]
    yield Batch(path, b"".join(held), 0, None, is_final=True, with_python=with_python)
