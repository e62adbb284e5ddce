"""Writes the run folder while training runs."""

from __future__ import annotations

import os
import platform
import socket
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter_ns, time_ns

from stepscope._version import __version__
from stepscope.schema import run_folder as layout
from stepscope.schema.run_folder import Manifest, RankRecording, StepKind, StepRow
from stepscope.units import NS_PER_S

FLUSH_NS = NS_PER_S
"""Step times reach the disk at least so often, so that a killed run loses no more."""

MOST_ROWS = 100_000
"""From then on the steps between two writes share one row."""


class ManifestFile:
    """The run folder's manifest, written when the run begins and when it ends.

    Args:
        folder: The run folder, which exists.
        command: What is run, with its arguments.

    Raises:
        OSError: The folder cannot be written to.
    """

    def __init__(self, folder: Path, command: tuple[str, ...]) -> None:
        self._path = folder / layout.MANIFEST_NAME
        self._begin_ns = perf_counter_ns()
        self._manifest = _manifest(command)
        layout.write_document(self._path, self._manifest)

    def finish(self, exit_status: int | None) -> None:
        """It has ended.

        Raises:
            OSError: The file cannot be written.
        """
        manifest = replace(
            self._manifest,
            state="finished",
            exit_status=exit_status,
            wall_ns=perf_counter_ns() - self._begin_ns,
        )
        layout.write_document(self._path, manifest)


class Journal:
    """The writer of one rank's part of a run folder, and of its manifest where nobody else writes that.

    Args:
        folder: The run folder, which exists.
        command: The script and its arguments.
        rank: This process's rank.
        is_of_a_launcher: Whether the manifest is the launcher's.

    Raises:
        OSError: The folder cannot be written to.
    """

    STEPS_NAME = layout.STEPS_NAME

    def __init__(
        self, folder: Path, command: tuple[str, ...], rank: int, *, is_of_a_launcher: bool = False
    ) -> None:
        self.rank_folder = folder / layout.rank_folder_name(rank)
        self.rank_folder.mkdir(exist_ok=True)
        self.rank = rank
        self._folder, self._command = folder, command
        self._is_of_a_launcher = is_of_a_launcher
        self._manifest = (
            ManifestFile(folder, command) if rank == 0 and not is_of_a_launcher else None
        )
        self._rows: list[tuple[int, StepKind, int, int, int]] = []
        self._written = 0
        self._flushed_ns = perf_counter_ns()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        self._steps_fd = os.open(self.rank_folder / self.STEPS_NAME, flags, 0o666)
        os.write(self._steps_fd, self._head().encode())

    def _head(self) -> str:
        """The first line of the file of steps."""
        return layout.STEPS_HEADER

    def step(
        self,
        number: int,
        kind: StepKind,
        start_ns: int,
        duration_ns: int,
        wait_ns: int,
        _parts: tuple[int, ...] = (),
    ) -> None:
        """Note a whole step; reaches the disk within about a second."""
        self._rows.append((number, kind, start_ns, duration_ns, wait_ns))
        if start_ns + duration_ns - self._flushed_ns >= FLUSH_NS:
            self.flush()

    def flush(self) -> None:
        """Write the steps noted so far."""
        self._flushed_ns = perf_counter_ns()
        rows, self._rows = self._rows, []
        if self._written > MOST_ROWS:
            lines = [row.line() for row in _merged([StepRow(*row) for row in rows])]
        else:
            # Every step pays for this, and a row's object costs more than its line.
            lines = [f"{row[0]},{row[1]},{row[2]},{row[3]},{row[4]},1\n" for row in rows]
        self._written += len(lines)
        if lines:
            os.write(self._steps_fd, "".join(lines).encode())

    def recording(self, document: RankRecording) -> None:
        """Replace the rank's measurements."""
        layout.write_document(self.rank_folder / layout.RECORDING_NAME, document)

    def finish(self, exit_status: int | None) -> None:
        """The script has ended."""
        self.flush()
        os.close(self._steps_fd)
        # Another rank writes it only where there is none, because rank 0 was not recorded.
        if self._manifest is None and not self._is_of_a_launcher:
            if (self._folder / layout.MANIFEST_NAME).exists():
                return
            self._manifest = ManifestFile(self._folder, self._command)
        if self._manifest is not None:
            self._manifest.finish(exit_status)


def _manifest(command: tuple[str, ...]) -> Manifest:
    now = time_ns()
    return Manifest(
        stepscope_version=__version__,
        command=command,
        directory=str(Path.cwd()),
        python=platform.python_version(),
        host=socket.gethostname(),
        pid=os.getpid(),
        started=datetime.fromtimestamp(now / NS_PER_S, timezone.utc)
        .astimezone()
        .isoformat("T", "seconds"),
        started_ns=now,
    )


def _merged(rows: list[StepRow]) -> list[StepRow]:
    """Neighbours of one kind as one row."""
    merged: list[StepRow] = []
    for row in rows:
        if merged and merged[-1].kind == row.kind:
            last = merged[-1]
            merged[-1] = replace(
                last,
                duration_ns=last.duration_ns + row.duration_ns,
                loader_wait_ns=last.loader_wait_ns + row.loader_wait_ns,
                count=last.count + row.count,
            )
        else:
            merged.append(row)
    return merged
