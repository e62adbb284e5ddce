"""A worker process: decodes batches of a trace's text into columns, for ``trace.workers``.

It imports no table library and speaks with its parent over standard input and output only, in messages
of eight bytes of length and a pickle. It ends when its input does.
"""

from __future__ import annotations

import pickle
import struct
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from msgspec import Struct

from stepscope.errors import LimitError
from stepscope.trace import compiled, limits
from stepscope.trace.columns import Columns, Packed
from stepscope.trace.decoding import Decoding
from stepscope.trace.layout import Layout
from stepscope.trace.repair import Repairs

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH = struct.Struct("<Q")


class Batch(Struct, frozen=True):
    """Some events of a file that stand together.

    Attributes:
        path: The file, for messages and for reading.
        text: The events, or None when they are to be read from the file.
        start, end: Where they are in the file; end None for its end.
        is_final: Whether the text goes on to the end of the file.
        with_python: Whether Python frames are wanted.
    """

    path: str
    text: bytes | None
    start: int
    end: int | None
    is_final: bool
    with_python: bool


class Decoded(Struct, frozen=True):
    """What became of a batch.

    Attributes:
        columns: Its columns.
        count: Entries of the list in it.
        repairs: What was mended and dropped, positions counted from its first event.
        is_whole: Whether it was read to its end, as batches that were cut in the right place are.
        truncated, lost_bytes, after: As ``Layout`` has them, for the final batch.
    """

    columns: Packed
    count: int
    repairs: Repairs
    is_whole: bool
    truncated: bool
    lost_bytes: int
    after: bytes


def decode(batch: Batch) -> Decoded:
    """Decodes a batch: by the compiled core in one go, else piece by piece.

    Raises:
        LimitError: It crosses a documented limit.
    """
    return _at_once(batch) or _by_pieces(batch)


def _at_once(batch: Batch) -> Decoded | None:
    """A batch of healthy text and of usual length, None for any other."""
    if compiled.core is None or (text := _text(batch)) is None:
        return None
    piece = compiled.decode(text, with_python=batch.with_python, is_inside=True)
    if piece is None or (text[piece.length - 1 : piece.length] == b"]") != batch.is_final:
        return None
    return Decoded(
        piece.columns,
        piece.count,
        Repairs(),
        is_whole=True,
        truncated=False,
        lost_bytes=0,
        after=text[piece.length :],
    )


def _text(batch: Batch) -> bytes | None:
    """A batch's text in one piece, None for one of unusual length."""
    if batch.text is None:
        with Path(batch.path).open("rb") as file:
            file.seek(batch.start)
            most = 2 * limits.BATCH_BYTES if batch.end is None else batch.end - batch.start
            text = file.read(min(most, 2 * limits.BATCH_BYTES))
    else:
        text = batch.text
    return text if len(text) < 2 * limits.BATCH_BYTES else None


def _by_pieces(batch: Batch) -> Decoded:
    columns = Columns(with_python=batch.with_python)
    decoding = Decoding(columns, batch.path)
    layout = Layout(batch.path)
    layout.read_list(b"", _chunks(batch), decoding, final=batch.is_final)
    return Decoded(
        columns.packed(),
        decoding.count,
        decoding.repairs,
        layout.is_whole,
        layout.truncated,
        layout.lost_bytes,
        layout.after,
    )


def _chunks(batch: Batch) -> Iterator[bytes]:
    if batch.text is not None:
        for at in range(0, len(batch.text), limits.PIECE_BYTES):
            yield batch.text[at : at + limits.PIECE_BYTES]
        return
    with Path(batch.path).open("rb") as file:
        file.seek(batch.start)
        left = sys.maxsize if batch.end is None else batch.end - batch.start
        while left > 0 and (chunk := file.read(min(limits.PIECE_BYTES, left))):
            left -= len(chunk)
            yield chunk


def send(stream: IO[bytes], message: object) -> None:
    """Writes one message."""
    text = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(text)))
    stream.write(text)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:  # noqa: ANN401  (whatever was sent)
    """Reads one message.

    Raises:
        EOFError: The other side is gone.
    """
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    length = LENGTH.unpack(head)[0]
    text = stream.read(length)
    if len(text) < length:
        raise EOFError
    return pickle.loads(text)  # noqa: S301  (from the process that this one started, or that started it)


def main() -> None:
    """Answers batches until there are no more."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            batch = receive(source)
        except EOFError:
            return
        try:
            answer: Decoded | LimitError = decode(batch)
        except LimitError as error:
            answer = error
        send(sink, answer)
