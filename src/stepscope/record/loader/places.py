"""Which files are open while batches are made: the folders that hold the data, and how large their files are."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

from stepscope.record.loader.lines import Lines
from stepscope.schema.loader_rows import PLACES_NAME, DataPlace, json_line

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.record.loader.meter import BatchMeter

MOST_SIZES = 200
"""So many files are measured in a process; the others are counted."""

MOST_NAMES = 2_000
"""So many names are kept between two writes, and as many told apart over all."""

SOME_NAMES = 20
"""So many files of a folder are named in a line, for who wants to read the very files again."""

NO_DATA = (".py", ".pyc", ".so", ".pth")
"""Endings of files that hold code."""

NO_PLACE = ("/proc/", "/sys/", "/dev/")


class OpenedFiles:
    """Notes files that Python code opens during a fetch, and those that stay open.

    Python's audit events cannot be unsubscribed, so this only listens in workers, which end with their
    loader. Files that are open longer than a moment are found among the process's descriptors, also
    when native code opened them.

    Args:
        folder: The rank's folder.
        loader: Number of the loader.
        worker: Number of the worker; -1 for the process that trains.
        meter: Whose fetches count.
    """

    def __init__(self, folder: Path, loader: int, worker: int, meter: BatchMeter) -> None:
        self._lines = Lines(folder / PLACES_NAME)
        self._loader, self._worker, self._meter = loader, worker, meter
        self._new: list[str] = []
        self._known: set[str] = set()
        self._sizes = 0
        self._own = str(folder)

    def listen(self) -> None:
        """Count what Python code opens from now on."""
        self._meter.opened = 0
        sys.addaudithook(self._event)

    def look(self) -> None:
        """Note what is open for reading right now."""
        try:
            numbers = os.listdir("/proc/self/fd")
        except OSError:
            return
        for number in numbers:
            try:
                path = os.readlink(f"/proc/self/fd/{number}")
                is_new = path.startswith("/") and path not in self._known
                # 0 to 2 are what the shell gave, also when that is a file.
                if is_new and int(number) > 2 and _only_reads(number):
                    self._new.append(path)
            except (OSError, ValueError):
                continue

    def write(self) -> None:
        """Look, and write what is new.

        Raises:
            OSError: The file cannot be written.
        """
        self.look()
        names, self._new = self._new, []
        found: dict[str, list[int]] = {}
        some: dict[str, list[str]] = {}
        for name in names:
            if name in self._known or len(self._known) >= MOST_NAMES or not self._is_data(name):
                continue
            self._known.add(name)
            folder, base = os.path.split(os.path.abspath(name))
            sizes = found.setdefault(folder, [0, 0, 0])
            sizes[0] += 1
            if sizes[0] <= SOME_NAMES:
                some.setdefault(folder, []).append(base)
            size = self._size(name)
            if size is not None:
                sizes[1] += 1
                sizes[2] += size
        lines = [
            json_line(
                DataPlace(
                    self._loader, self._worker, folder, files, sized, total, tuple(some[folder])
                )
            )
            for folder, (files, sized, total) in found.items()
            if sized
        ]
        self._lines.append("".join(lines))

    def _event(self, event: str, args: tuple[object, ...]) -> None:
        if event == "open" and self._meter.fetch is not None:
            name, _, flags = args
            reads = isinstance(flags, int) and flags & os.O_ACCMODE == os.O_RDONLY
            if reads and isinstance(name, (str, bytes)):
                self._meter.opened = (self._meter.opened or 0) + 1
                if len(self._new) < MOST_NAMES:
                    self._new.append(os.fsdecode(name))

    def _is_data(self, name: str) -> bool:
        return not (name.endswith(NO_DATA) or name.startswith((*NO_PLACE, self._own)))

    def _size(self, name: str) -> int | None:
        """The file's size; ``None`` when it is no regular file, is gone, or enough were measured."""
        if self._sizes >= MOST_SIZES:
            return None
        try:
            status = os.stat(name)
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        self._sizes += 1
        return status.st_size


def _only_reads(number: str) -> bool:
    """Whether the descriptor of that number was opened for reading only.

    Raises:
        OSError: It is closed by now.
        ValueError: The kernel writes its flags otherwise.
    """
    with open(f"/proc/self/fdinfo/{number}", encoding="ascii") as stream:
        for line in stream:
            if line.startswith("flags:"):
                return int(line[6:], 8) & os.O_ACCMODE == os.O_RDONLY
    return False
