"""Appends whole lines to a file that several processes share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 12_000_000
"""A file that has grown beyond this takes no more lines, so that a long job leaves a small folder."""


class Lines:
    """One file, opened at the first line.

    Args:
        path: The file; its folder exists.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def append(self, text: str) -> bool:
        """Add lines, each with its line end, in one write; whether there was room.

        Raises:
            OSError: The file cannot be written.
        """
        if not text:
            return True
        if self._fd is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            self._fd = os.open(self._path, flags, 0o666)
        if os.fstat(self._fd).st_size > MOST_BYTES:
            return False
        os.write(self._fd, text.encode("utf-8", "backslashreplace"))
        return True

    def close(self) -> None:
        """No more lines come."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
