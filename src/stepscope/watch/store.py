"""Appending rows to the run folder as they come, and reading them back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from stepscope.errors import InputError
from stepscope.schema.samples import (
    SAMPLES_FOLDER,
    SAMPLES_VERSION,
    AnyRow,
    DeviceSample,
    DeviceStart,
    End,
    HostSample,
    MeterSample,
    Notice,
    ProcessSample,
    Start,
)
from stepscope.watch.thinning import Thinner

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class SampleWriter:
    """Appends rows to one file; what was written stays readable whatever happens to the writer.

    Each call is one write of whole lines, so that only the last line can be cut.

    Args:
        folder: The run folder.
        start: The first row; it names the file.

    Raises:
        OSError: The folder cannot be written to.
    """

    def __init__(self, folder: Path, start: Start) -> None:
        self.path = folder / SAMPLES_FOLDER / f"{safe(start.node)}.{start.task}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        self._file = os.open(self.path, flags, 0o644)
        self._encoder = msgspec.json.Encoder()
        self._thinner = Thinner()
        self._tail = self.path.with_suffix(TAIL_SUFFIX)
        self._tail_file: int | None = None
        self._put([start])

    def write(self, at_s: float, rows: Iterable[AnyRow]) -> None:
        """Appends a tick's rows; in long runs several ticks become one.

        Ticks that wait to be combined lie in a file beside, so that a kill loses none of them.

        Raises:
            OSError: The disk is full, or the folder has gone.
        """
        rows = list(rows)
        passed = self._thinner.pass_on(at_s, rows)
        if not passed:
            self._hold(rows)
            return
        self._put(passed)
        if self._tail_file is not None:
            os.ftruncate(self._tail_file, 0)

    def close(self, end: End) -> None:
        """Appends what is still held back and the last row.

        Raises:
            OSError: The disk is full, or the folder has gone.
        """
        try:
            self._put([*self._thinner.rest(), end])
            self._tail.unlink(missing_ok=True)
        finally:
            os.close(self._file)
            if self._tail_file is not None:
                os.close(self._tail_file)

    def _hold(self, rows: list[AnyRow]) -> None:
        if self._tail_file is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            self._tail_file = os.open(self._tail, flags, 0o644)
        os.write(self._tail_file, b"".join(self._encoder.encode(row) + b"\n" for row in rows))

    def _put(self, rows: list[AnyRow]) -> None:
        if rows:
            os.write(self._file, b"".join(self._encoder.encode(row) + b"\n" for row in rows))


TAIL_SUFFIX = ".tail"
TIMED = (HostSample, ProcessSample, DeviceSample, MeterSample)


def safe(name: str) -> str:
    """A name as part of a file name."""
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name) or "node"


class Watched(Struct, frozen=True):
    """One watcher's rows, read back.

    Attributes:
        start: Who watched what.
        end: The end, ``None`` when the watcher was killed.
        hosts: Rows of the processes, in order.
        device_starts: Devices.
        devices: Rows of each device, by UUID.
        meters: Rows of the energy counters.
        notices: What could not be seen.
        processes: Rows of the processes one by one, in order.
    """

    start: Start
    end: End | None
    hosts: tuple[HostSample, ...]
    device_starts: tuple[DeviceStart, ...]
    devices: dict[str, tuple[DeviceSample, ...]]
    meters: tuple[MeterSample, ...]
    notices: tuple[Notice, ...]
    processes: tuple[ProcessSample, ...] = ()

    @property
    def wall_s(self) -> float:
        """How long it was watched: to the end, else to the last row."""
        if self.end is not None:
            return self.end.at_s
        return max((row.at_s for row in self.hosts), default=0.0)


def read_watched(folder: Path) -> tuple[Watched, ...]:
    """All watchers' rows of a run folder, in order of node and task.

    Raises:
        InputError: The folder holds none that can be read.
    """
    found = [
        watched
        for path in sorted((folder / SAMPLES_FOLDER).glob("*.jsonl"))
        if (watched := read_file(path)) is not None
    ]
    if not found:
        raise InputError(
            "this folder holds no samples",
            path=str(folder),
            way_out="make some with `stepscope watch -- COMMAND`",
        )
    return tuple(sorted(found, key=lambda one: (one.start.node, one.start.task)))


def read_file(path: Path) -> Watched | None:
    """One watcher's rows up to the first line that cannot be read; ``None`` without a first row.

    Raises:
        InputError: The file is of a newer version than this program.
    """
    rows = decoded(path)
    last = max((row.at_s for row in rows if isinstance(row, TIMED)), default=0.0)
    # A kill between writing what was combined and emptying the file beside leaves both.
    rows += [
        row
        for row in decoded(path.with_suffix(TAIL_SUFFIX))
        if isinstance(row, TIMED) and row.at_s > last
    ]
    if not rows or not isinstance(rows[0], Start):
        return None
    start = rows[0]
    if start.version > SAMPLES_VERSION:
        raise InputError("was written by a newer stepscope", path=str(path), way_out="update it")
    devices: dict[str, list[DeviceSample]] = {}
    for row in rows:
        if isinstance(row, DeviceSample):
            devices.setdefault(row.uuid, []).append(row)
    return Watched(
        start=start,
        end=next((row for row in rows if isinstance(row, End)), None),
        hosts=tuple(row for row in rows if isinstance(row, HostSample)),
        device_starts=tuple(row for row in rows if isinstance(row, DeviceStart)),
        devices={uuid: tuple(some) for uuid, some in devices.items()},
        meters=tuple(row for row in rows if isinstance(row, MeterSample)),
        notices=tuple(row for row in rows if isinstance(row, Notice)),
        processes=tuple(row for row in rows if isinstance(row, ProcessSample)),
    )


def decoded(path: Path) -> list[AnyRow]:
    """Rows of a file up to the first line that a kill cut short; none where there is no file."""
    decoder = msgspec.json.Decoder(AnyRow)
    rows: list[AnyRow] = []
    if not path.is_file():
        return rows
    with path.open("rb") as file:
        for line in file:
            try:
                rows.append(decoder.decode(line))
            except msgspec.DecodeError:
                break
    return rows
