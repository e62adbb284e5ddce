"""What Linux counts for a process or a thread: bytes read, and time without a core."""

from __future__ import annotations

import os

PATH = "/proc/self/io"


class ReadBytes:
    """Reads the kernel's counters of this process; 2 microseconds a time.

    Where the kernel does not keep them, or forbids to look, the answer is always ``None``.
    """

    def __init__(self) -> None:
        try:
            # Of this process, also after a fork: the file belongs to the process that opens it.
            self._fd: int | None = os.open(PATH, os.O_RDONLY)
        except OSError:
            self._fd = None

    def now(self) -> tuple[int, int] | None:
        """Bytes by system calls, and bytes from storage, since the process began."""
        if self._fd is None:
            return None
        try:
            text = os.pread(self._fd, 512, 0)
        except OSError:
            return None
        fields = text.split()
        if len(fields) < 10 or fields[0] != b"rchar:" or fields[8] != b"read_bytes:":
            return None
        return int(fields[1]), int(fields[9])

    def close(self) -> None:
        """Look no more."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class QueuedTime:
    """Reads how long the thread that made this has waited for a core; 2 microseconds a time.

    Where the kernel does not keep that figure the answer is always ``None``.
    """

    def __init__(self) -> None:
        try:
            self._fd: int | None = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self._fd = None

    def now(self) -> int | None:
        """Nanoseconds since the thread began."""
        if self._fd is None:
            return None
        try:
            fields = os.pread(self._fd, 128, 0).split()
        except OSError:
            return None
        return int(fields[1]) if len(fields) == 3 else None

    def close(self) -> None:
        """Look no more."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
