"""What goes along with a recording in a process of its own; the recorder knows no more of it than this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class Companion(Protocol):
    """Something that begins and ends with a run, and never fails it."""

    def begin(self, folder: Path, pid: int, task: int = 0, tasks: int = 1) -> None:
        """The run begins.

        Args:
            folder: The run folder, which exists.
            pid: The process that trains, or the one above all that train.
            task: Number of this process among those that begin a companion.
            tasks: How many of those there are.
        """

    def end(self) -> None:
        """The run has ended; returns when nothing more is written to the run folder."""
