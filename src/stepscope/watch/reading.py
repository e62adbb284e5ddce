"""How fast files are read from a file system: a short measured read of the very files, not of the page cache.

Before a file is read, the kernel is asked to forget its pages (posix_fadvise with DONTNEED), and then asked whether
the first page is in memory all the same (preadv2 with RWF_NOWAIT): another process may hold it mapped. What stays in
memory is counted and said. A network file system's server may keep files in its own memory; nobody here can tell.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_FILES, MOST_BYTES = 200, 256_000_000
"""So much is read at most, which takes a disk some seconds."""

PIECE = 1 << 20
"""Bytes asked for at a time."""

MANY = 8
"""Readers at a time that stand for several workers."""


class Reads(Struct, frozen=True, kw_only=True):
    """A measured read of files.

    Attributes:
        files: How many were read, half of them by one reader and half by several.
        bytes: Their size.
        alone_ns: Mean time of a file with one reader, opening included.
        many_ns: Time between the ends of two files with several readers at a time, where that is shorter.
        readers: How many these were.
        cached: Files of which pages were in memory although the kernel had been asked to forget them.
        copy_bytes_per_s: How fast the files were copied there; ``None`` where they lay already.
    """

    files: int
    bytes: int
    alone_ns: float
    many_ns: float
    readers: int
    cached: int
    copy_bytes_per_s: float | None = None

    @property
    def mean_bytes(self) -> float:
        """Mean size of a file."""
        return self.bytes / self.files


def read_speed(paths: Sequence[Path], readers: int = MANY) -> Reads | None:
    """Read files, half of them one after another and half of them several at a time; ``None`` below two files.

    Args:
        paths: Files; those that are gone are left out, as is what goes beyond the most that is read.
        readers: Readers of the second half.
    """
    sized = _within(paths)
    if len(sized) < 2:
        return None
    whole = sum(size for _, size in sized)
    files = [path for path, _ in sized]
    alone, many = files[0::2], files[1::2]
    cached = sum(_forget(path) for path in files)
    begun = time.perf_counter_ns()
    for path in alone:
        _read(path)
    took = time.perf_counter_ns() - begun
    with ThreadPoolExecutor(readers) as pool:
        begun = time.perf_counter_ns()
        list(pool.map(_read, many))
        together = time.perf_counter_ns() - begun
    return Reads(
        files=len(files),
        bytes=whole,
        alone_ns=took / len(alone),
        # Threads of one process hinder each other more than workers do: never slower than alone.
        many_ns=min(together / len(many), took / len(alone)),
        readers=min(readers, len(many)),
        cached=cached,
    )


def read_speed_in(folder: Path, paths: Sequence[Path], readers: int = MANY) -> Reads | None:
    """The same for copies of the files in a folder, which are removed again; ``None`` below two files.

    Raises:
        OSError: The folder cannot be written to, or is full.
    """
    sized = _within(paths)
    if len(sized) < 2:
        return None
    with tempfile.TemporaryDirectory(prefix=".stepscope-", dir=folder) as name:
        begun = time.perf_counter_ns()
        copies = []
        for number, (path, _) in enumerate(sized):
            copy = Path(name) / f"{number}{path.suffix}"
            shutil.copyfile(path, copy)
            _to_disk(copy)
            copies.append(copy)
        took = time.perf_counter_ns() - begun
        made = read_speed(copies, readers)
    if made is None:
        return None
    return Reads(
        files=made.files,
        bytes=made.bytes,
        alone_ns=made.alone_ns,
        many_ns=made.many_ns,
        readers=made.readers,
        cached=made.cached,
        copy_bytes_per_s=made.bytes / max(took / NS_PER_S, 1e-9),
    )


def _within(paths: Sequence[Path]) -> list[tuple[Path, int]]:
    """Files that are there with their sizes, up to the most that is read."""
    found: list[tuple[Path, int]] = []
    total = 0
    for path in paths:
        try:
            size = path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
        if not size or not os.access(path, os.R_OK):
            continue
        if len(found) >= MOST_FILES or (len(found) >= 2 and total + size > MOST_BYTES):
            break
        found.append((path, size))
        total += size
    return found


def _read(path: Path) -> int:
    """Read a whole file of any size in pieces."""
    total = 0
    with path.open("rb", buffering=0) as file:
        while piece := file.read(PIECE):
            total += len(piece)
    return total


def _to_disk(path: Path) -> None:
    """Have the kernel write a file out, because it forgets only what is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _forget(path: Path) -> bool:
    """Ask the kernel to forget a file's pages; whether some are in memory all the same."""
    if not hasattr(os, "posix_fadvise"):
        return True
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return _is_in_memory(descriptor)
    finally:
        os.close(descriptor)


def _is_in_memory(descriptor: int) -> bool:
    """Whether the first page can be read without waiting; unknown counts as yes."""
    try:
        return os.preadv(descriptor, [bytearray(1)], 0, os.RWF_NOWAIT) > 0
    except BlockingIOError:
        return False
    except OSError as error:
        # Memory file systems and some of the network do not know the question.
        return error.errno != errno.EAGAIN
