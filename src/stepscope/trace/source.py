"""From a path to chunks of decompressed text, whatever the file is called.

The content decides, not the suffix: gzip with any number of members, or plain text.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from isal import isal_zlib

from stepscope.errors import InputError, LimitError, MissingExtraError
from stepscope.trace import limits
from stepscope.trace.foreign import BYTE_ORDER_MARK, refuse_bytes

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

GZIP = b"\x1f\x8b"
COMPRESSED_BYTES = 2**16
CAREFUL_BYTES = 256
"""Text at a time on the way to a broken place."""
STANDARD_INPUT = "-"


class Source:
    """A file that may hold a trace.

    Args:
        path: The path as given, an address that fsspec knows, or ``-`` for standard input.

    Attributes:
        truncated: Set while reading: the compressed stream ended, or broke, before its end mark.
        trailing_junk: Set while reading: bytes after the last gzip member.
        bytes_read: Bytes of the file read so far.
        is_gzip: Set with the first chunk.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.truncated = False
        self.trailing_junk = 0
        self.bytes_read = 0
        self.is_gzip = False

    def chunks(self) -> Generator[bytes, None, None]:
        """Decompressed text in pieces of at least ``limits.PIECE_BYTES``, the last one apart.

        Raises:
            InputError: The file is missing, unreadable or empty.
            NotATraceError: Its first bytes show that it is something else.
            LimitError: It decompresses to more than the documented limit.
            MissingExtraError: The path is an address and fsspec is not installed.
        """
        with _open(self.path) as stream:
            first = self._read(stream, COMPRESSED_BYTES)
            if not first:
                raise InputError(
                    "the file is empty", path=self.path, way_out="record the trace again"
                )
            self.is_gzip = first.startswith(GZIP)
            pieces = self._gunzip(stream, first) if self.is_gzip else self._plain(stream, first)
            total = 0
            for piece in _regrouped(pieces):
                if total == 0:
                    refuse_bytes(piece, self.path)
                total += len(piece)
                self._refuse_bomb(total)
                yield piece.removeprefix(BYTE_ORDER_MARK) if total == len(piece) else piece
            if total == 0:
                raise InputError(
                    "the compressed file holds nothing",
                    path=self.path,
                    way_out="record the trace again",
                )

    def _refuse_bomb(self, total: int) -> None:
        if total > limits.TEXT_BYTES:
            raise LimitError(
                f"decompresses to more than {limits.TEXT_BYTES >> 30} GiB",
                path=self.path,
                way_out="record fewer steps",
            )
        if total > limits.EXPANSION_FROM_BYTES and total > limits.EXPANSION * self.bytes_read:
            raise LimitError(
                f"decompresses to more than {limits.EXPANSION} times its size, which no trace does",
                path=self.path,
            )

    def _read(self, stream: IO[bytes], size: int) -> bytes:
        try:
            data = stream.read(size)
        except OSError as error:
            raise InputError(
                f"cannot be read ({error.strerror or error})", path=self.path
            ) from error
        self.bytes_read += len(data)
        return data

    def _plain(self, stream: IO[bytes], first: bytes) -> Iterator[bytes]:
        yield first
        while piece := self._read(stream, limits.PIECE_BYTES):
            yield piece

    def _gunzip(self, stream: IO[bytes], first: bytes) -> Iterator[bytes]:
        """The text of all members; what follows a broken place is given up and said.

        An error takes with it what the failing call had decompressed, so the way to it is gone again where
        the stream allows, and the last stretch in small steps.
        """
        out = 0
        try:
            for piece in self._members(stream, first, limits.PIECE_BYTES):
                out += len(piece)
                yield piece
        except isal_zlib.error:  # type: ignore[misc]  # its stub calls the class a value
            self.truncated = True
        else:
            return
        if not stream.seekable():
            return
        stream.seek(0)
        again = self._members(stream, self._read(stream, COMPRESSED_BYTES), CAREFUL_BYTES, out)
        with suppress(isal_zlib.error):  # type: ignore[arg-type]  # its stub calls it a value
            for piece in again:
                if out <= 0:
                    yield piece
                out -= len(piece)

    def _members(
        self, stream: IO[bytes], data: bytes, step: int, quick_bytes: int = 0
    ) -> Iterator[bytes]:
        """One member after the other.

        Args:
            stream: The file.
            data: Its start.
            step: Longest piece.
            quick_bytes: Text for which pieces are as long as ``limits.PIECE_BYTES``.

        Raises:
            isal_zlib.error: Something is wrong with the compressed data.
        """
        out = 0
        while True:
            member = isal_zlib.decompressobj(31)
            while True:
                piece = member.decompress(data, step if out >= quick_bytes else limits.PIECE_BYTES)
                if piece:
                    out += len(piece)
                    yield piece
                if member.eof:
                    break
                data = member.unconsumed_tail or self._read(stream, COMPRESSED_BYTES)
                if not data and not piece:
                    self.truncated = True
                    return
            data = member.unused_data.lstrip(b"\0")
            while not data:
                data = self._read(stream, COMPRESSED_BYTES)
                if not data:
                    return
                data = data.lstrip(b"\0")
            if not data.startswith(GZIP[: len(data)]):
                self.trailing_junk = len(data)
                return


def _regrouped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same text in pieces of at least ``limits.PIECE_BYTES``, so that no tiny ones come."""
    held: list[bytes] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length >= limits.PIECE_BYTES:
            yield b"".join(held) if len(held) > 1 else piece
            held.clear()
            length = 0
    if held:
        yield b"".join(held)


def is_address(path: str) -> bool:
    """Whether the path is an address such as ``s3://bucket/trace.json`` and no local file."""
    scheme, colon, _ = path.partition("://")
    return bool(colon) and scheme.replace("+", "").isalnum()


@contextmanager
def _open(path: str) -> Iterator[IO[bytes]]:
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    with _open_address(path) if is_address(path) else _open_file(path) as stream:
        yield stream


def _open_file(path: str) -> IO[bytes]:
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise InputError("there is no such file or folder", path=path) from None
    except IsADirectoryError:
        raise InputError("is a folder where a file was expected", path=path) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"cannot be read ({reason})", path=path) from error


def list_address(path: str) -> list[str] | None:
    """All files below an address of a folder, as addresses; ``None`` for what is no folder.

    Raises:
        InputError: The place cannot be reached.
        MissingExtraError: fsspec, or what it needs for this kind of place, is not installed.
    """
    with _telling_errors(path) as fsspec:
        system, root = fsspec.url_to_fs(path)
        if not system.isdir(root):
            return None
        return [system.unstrip_protocol(name) for name in system.find(root)]


def _open_address(path: str) -> Any:  # noqa: ANN401  (a file of fsspec, which has no types)
    with _telling_errors(path) as fsspec:
        return fsspec.open(path, "rb").open()


@contextmanager
def _telling_errors(path: str) -> Iterator[Any]:
    """The module fsspec, and its errors as ours."""
    try:
        import fsspec  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError(
            f"{path}: reading an address needs fsspec: pip install 'stepscope[remote]'"
        ) from None
    try:
        yield fsspec
    except ImportError as error:
        raise MissingExtraError(f"{path}: {error}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({error})", path=path) from error
