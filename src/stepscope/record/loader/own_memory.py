"""How much memory a worker holds for itself, which is what one more of them would take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.record.loader.lines import Lines
from stepscope.schema.loader_rows import MEMORY_NAME, WorkerMemory, json_line

if TYPE_CHECKING:
    from pathlib import Path

PATH = "/proc/self/smaps_rollup"

MEASURED = 0
"""Only the worker of this number looks, because all workers of a loader do the same work, and a look takes the kernel
some milliseconds: it goes through all pages of the process."""

MOST_BYTES = 4_000
"""Workers that are started anew with each of many epochs look no more when the file is longer than this."""


class OwnMemory:
    """Looks when batches are written for the first, second, fourth, eighth, ... time in a worker's life.

    Args:
        folder: The rank's folder.
        loader: Number of the loader.
        worker: Number of the worker.
    """

    def __init__(self, folder: Path, loader: int, worker: int) -> None:
        self._path = folder / MEMORY_NAME
        self._loader, self._worker = loader, worker
        self._times = 0

    def write(self) -> None:
        """Look, when it is time, and write what there is.

        Raises:
            OSError: The file cannot be written.
        """
        self._times += 1
        if self._worker != MEASURED or self._times & (self._times - 1):
            return
        if self._path.is_file() and self._path.stat().st_size > MOST_BYTES:
            return
        own = own_bytes()
        if own is None:
            return
        lines = Lines(self._path)
        lines.append(json_line(WorkerMemory(self._loader, self._worker, own)))
        lines.close()


def own_bytes(path: str = PATH) -> int | None:
    """Memory that this process shares with no other; ``None`` where the system does not tell."""
    try:
        with open(path, encoding="ascii") as stream:
            fields = [line.split() for line in stream]
    except OSError:
        return None
    sizes = [int(row[1]) for row in fields if row[:1] in (["Private_Clean:"], ["Private_Dirty:"])]
    return 1024 * sum(sizes) if sizes else None
