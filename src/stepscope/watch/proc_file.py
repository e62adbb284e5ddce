"""Reading the kernel's files about one process."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SMALL_BYTES = 1 << 16

TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True, slots=True)
class ProcessReading:
    """One process at a moment.

    Attributes:
        pid, parent: Its number and its parent's.
        started: When it started, in ticks after boot; tells it from a later process of that number.
        own_s: CPU time of all its threads, ended ones included.
        waited_s: CPU time of ended children that it has waited for, and of theirs.
        threads: How many it has.
        rss_bytes: Resident memory.
        name: What the kernel calls it: foreign text.
        io: Bytes and calls, those of waited-for children included; ``None`` where they are not for us.
    """

    pid: int
    parent: int
    started: int
    own_s: float
    waited_s: float
    threads: int
    rss_bytes: int
    io: IoReading | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class IoReading:
    """Cumulative reads and writes, as ``/proc/PID/io`` has them."""

    read_bytes: int
    written_bytes: int
    read_calls: int
    storage_read_bytes: int
    storage_written_bytes: int

    def __add__(self, other: IoReading) -> IoReading:
        """The sum, field by field."""
        return IoReading(
            self.read_bytes + other.read_bytes,
            self.written_bytes + other.written_bytes,
            self.read_calls + other.read_calls,
            self.storage_read_bytes + other.storage_read_bytes,
            self.storage_written_bytes + other.storage_written_bytes,
        )


def read_process(proc: Path, pid: int) -> ProcessReading | None:
    """A process, ``None`` when it has gone. One that has ended and was not waited for still answers."""
    text = small_text(f"{proc}/{pid}/stat")
    # The name stands in parentheses and may hold blanks and parentheses of its own.
    end = text.rfind(")")
    fields = text[end + 2 :].split()
    if len(fields) < 22:
        return None
    times = [int(field) / TICKS_PER_S for field in fields[11:15]]
    return ProcessReading(
        pid=pid,
        parent=int(fields[1]),
        started=int(fields[19]),
        own_s=times[0] + times[1],
        waited_s=times[2] + times[3],
        threads=int(fields[17]),
        rss_bytes=int(fields[21]) * PAGE_BYTES,
        io=read_io(proc, pid),
        name=text[text.find("(") + 1 : end],
    )


def read_io(proc: Path, pid: int) -> IoReading | None:
    """What a process has read and written; ``None`` where it is not for us."""
    values = read_fields(f"{proc}/{pid}/io")
    try:
        return IoReading(
            values["rchar"],
            values["wchar"],
            values["syscr"],
            values["read_bytes"],
            values["write_bytes"],
        )
    except KeyError:
        return None


def read_fields(path: str) -> dict[str, int]:
    """Numbers by name from a file of ``name: number`` lines; empty where it cannot be read."""
    text = small_text(path)
    found = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        number = rest.split()
        if number and number[0].isdigit():
            found[name] = int(number[0])
    return found


def children_of(proc: Path, pid: int) -> list[int]:
    """Children of all threads of a process.

    Reading them thread by thread touches only our own processes; walking all of ``/proc`` would cost
    milliseconds on a busy node.
    """
    found: list[int] = []
    for thread in names_in(f"{proc}/{pid}/task"):
        text = small_text(f"{proc}/{pid}/task/{thread}/children")
        found += [int(word) for word in text.split()]
    return found


def small_text(path: str) -> str:
    """A small file of the kernel; ``""`` where it is not there or not for us.

    Read in one call and without the machinery of files, because watching reads dozens of them twice a
    second.
    """
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(file, SMALL_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(file)


def names_in(folder: str) -> list[str]:
    """Names in a folder; none where it cannot be read."""
    try:
        return os.listdir(folder)  # noqa: PTH208  the names are wanted, and quickly
    except OSError:
        return []
