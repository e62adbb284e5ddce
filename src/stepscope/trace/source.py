"""From a path to chunks of decompressed text, whatever the file is called.

The content decides, not the suffix: gzip with any number of members, or plain text. What cannot be
a trace is recognised here by its first bytes and refused in one sentence.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from isal import isal_zlib

from stepscope.errors import InputError, LimitError, NotATraceError
from stepscope.trace import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

GZIP = b"\x1f\x8b"
FOREIGN = (
    (b"PK\x03\x04", "a zip archive", "unpack it and give the trace inside"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it with 'zstd -d'"),
    (b"\xfd7zXZ", "compressed with xz", "unpack it with 'unxz'"),
    (b"BZh", "compressed with bzip2", "unpack it with 'bunzip2'"),
    (b"SQLite format 3", "an SQLite database", "export a Chrome trace from the profiler instead"),
    (b"\x80\x04", "a pickle, such as a CUDA memory snapshot", "give the profiler's JSON trace"),
    (b"\x80\x05", "a pickle, such as a CUDA memory snapshot", "give the profiler's JSON trace"),
    (b"\x89HDF", "an HDF5 file", "give the profiler's JSON trace"),
    (b"PAR1", "a Parquet file", "give the profiler's JSON trace"),
)
LFS_POINTER = b"version https://git-lfs.github.com/spec"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(slots=True)
class Source:
    """A file that may hold a trace.

    Attributes:
        path: The path as given, ``-`` for standard input.
        truncated: Set while reading: the compressed stream ended before its end mark.
        trailing_junk: Set while reading: bytes after the last gzip member.
    """

    path: str
    truncated: bool = field(default=False, init=False)
    trailing_junk: int = field(default=0, init=False)

    def chunks(self) -> Iterator[bytes]:
        """Decompressed text in pieces of about ``limits.CHUNK_BYTES``.

        Raises:
            InputError: The file is missing, unreadable or empty.
            NotATraceError: Its first bytes show that it is something else.
            LimitError: It decompresses to more than the documented limit.
        """
        with _open(self.path) as stream:
            first = stream.read(limits.CHUNK_BYTES)
            if not first:
                raise InputError(
                    "the file is empty", path=self.path, way_out="record the trace again"
                )
            total = 0
            pieces = (
                self._gunzip(stream, first) if first.startswith(GZIP) else _plain(stream, first)
            )
            for number, piece in enumerate(pieces):
                if number == 0:
                    refuse_foreign(piece, self.path)
                total += len(piece)
                if total > limits.TEXT_BYTES:
                    raise LimitError(
                        f"decompresses to more than {limits.TEXT_BYTES >> 30} GiB",
                        path=self.path,
                        way_out="record fewer steps",
                    )
                yield piece
            if total == 0:
                raise InputError(
                    "the compressed file holds nothing",
                    path=self.path,
                    way_out="record the trace again",
                )

    def _gunzip(self, stream: IO[bytes], data: bytes) -> Iterator[bytes]:
        """All members, one after the other; what follows a broken place is given up and said."""
        while True:
            member = isal_zlib.decompressobj(31)
            while True:
                try:
                    piece = member.decompress(data, limits.CHUNK_BYTES)
                except isal_zlib.error:  # type: ignore[misc]  # its stub calls the class a value
                    self.truncated = True
                    return
                if piece:
                    yield piece
                if member.eof:
                    break
                data = member.unconsumed_tail or stream.read(limits.CHUNK_BYTES // 8)
                if not data and not piece:
                    self.truncated = True
                    return
            data = (member.unused_data or stream.read(limits.CHUNK_BYTES // 8)).lstrip(b"\0")
            while not data:
                data = stream.read(limits.CHUNK_BYTES // 8)
                if not data:
                    return
                data = data.lstrip(b"\0")
            if not data.startswith(GZIP[: len(data)]):
                self.trailing_junk = len(data)
                return


def _open(path: str) -> IO[bytes]:
    if path == "-":
        return sys.stdin.buffer
    file = Path(path)
    try:
        return file.open("rb")
    except FileNotFoundError:
        raise InputError("there is no such file or folder", path=path) from None
    except IsADirectoryError:
        raise InputError("is a folder where a file was expected", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from error


def _plain(stream: IO[bytes], first: bytes) -> Iterator[bytes]:
    yield first.removeprefix(BYTE_ORDER_MARK)
    while piece := stream.read(limits.CHUNK_BYTES):
        yield piece


def refuse_foreign(start: bytes, path: str) -> None:
    """Raise :class:`NotATraceError` when the first bytes show that this is no JSON trace."""
    text = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if text.startswith(LFS_POINTER):
        raise NotATraceError(
            "is a Git LFS pointer, not the file itself",
            path=path,
            way_out="fetch it with 'git lfs pull'",
        )
    if text[:1] == b"<":
        raise NotATraceError(
            "is an HTML or XML page, not a trace",
            path=path,
            way_out="download the raw file instead of the page that shows it",
        )
    for magic, what, way_out in FOREIGN:
        if start.startswith(magic):
            raise NotATraceError(f"is {what}, not a JSON trace", path=path, way_out=way_out)
    if text and text[:1] not in b"{[":
        raise NotATraceError(
            "is not JSON: it starts with neither '{' nor '['",
            path=path,
            way_out="give a trace that torch.profiler exported with export_chrome_trace",
        )
