"""A process and its descendants: found as they come, and counted also after they have gone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stepscope.watch.proc_file import (
    IoReading,
    ProcessReading,
    children_of,
    names_in,
    read_fields,
    read_process,
)

PROC = Path("/proc")
NO_IO = IoReading(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class TreeReading:
    """The whole tree at a moment.

    Attributes:
        processes, threads: How many there are.
        cpu_s: CPU time of all that ever were in it.
        rss_bytes: Sum of resident memory.
        io: Reads and writes of all that ever were in it; ``None`` where they are not for us.
    """

    processes: int
    threads: int
    cpu_s: float
    rss_bytes: int
    io: IoReading | None


class ProcessTree:
    """Follows one process and its descendants.

    A process that ends hands its CPU time and its reads over to the parent that waits for it, which the
    kernel adds up for us. One that nobody waits for (its parent ended first, or ignores its children)
    takes them along; its last reading is kept here.

    Args:
        root: The process, or several.
        proc: Where the kernel's files are.
    """

    def __init__(self, root: int | frozenset[int], proc: Path = PROC) -> None:
        self._proc = proc
        self._roots = frozenset({root}) if isinstance(root, int) else root
        self._last: dict[int, ProcessReading] = {}
        self._orphaned_s = 0.0
        self._orphaned_io = NO_IO
        self.find()

    @property
    def pids(self) -> frozenset[int]:
        """The processes that were there at the last look."""
        return frozenset(self._last)

    def find(self) -> None:
        """Looks for descendants that are new; dearer than :meth:`sample`, so done less often."""
        queue = [*self._roots, *self._last]
        seen: set[int] = set()
        while queue:
            pid = queue.pop()
            if pid in seen:
                continue
            seen.add(pid)
            if pid not in self._last:
                reading = read_process(self._proc, pid)
                if reading is None:
                    continue
                self._last[pid] = reading
            queue += children_of(self._proc, pid)

    def add(self, pids: frozenset[int]) -> None:
        """More processes to follow, which are no descendants of the others."""
        self._roots |= pids

    def sample(self) -> TreeReading:
        """Reads every known process again."""
        now: dict[int, ProcessReading] = {}
        for pid, before in self._last.items():
            reading = read_process(self._proc, pid)
            if reading is not None and reading.started == before.started:
                now[pid] = reading
        self._settle(now)
        self._last = now
        readings = now.values()
        ios = [reading.io for reading in readings if reading.io is not None]
        io = self._orphaned_io
        for one in ios:
            io = io + one
        return TreeReading(
            processes=len(now),
            threads=sum(reading.threads for reading in readings),
            cpu_s=sum(reading.own_s + reading.waited_s for reading in readings) + self._orphaned_s,
            rss_bytes=sum(reading.rss_bytes for reading in readings),
            io=io if ios or self._orphaned_io is not NO_IO else None,
        )

    def _settle(self, now: dict[int, ProcessReading]) -> None:
        """Keeps what ended processes had used, where no living parent has taken it over."""
        gone: dict[int, list[ProcessReading]] = {}
        for pid, reading in self._last.items():
            if pid not in now:
                gone.setdefault(self._heir(reading, now), []).append(reading)
        for heir, readings in gone.items():
            had = sum(reading.own_s + reading.waited_s for reading in readings)
            risen = 0.0
            if heir in now and heir in self._last:
                risen = now[heir].waited_s - self._last[heir].waited_s
            # An heir has waited when its account rose by about as much; ticks make both figures coarse.
            if heir in now and (risen >= 0.5 * had or had <= 2 * 0.01):
                continue
            self._orphaned_s += had
            for reading in readings:
                if reading.io is not None:
                    self._orphaned_io = self._orphaned_io + reading.io

    def _heir(self, reading: ProcessReading, now: dict[int, ProcessReading]) -> int:
        """The nearest ancestor that is still there; 0 when there is none."""
        parent = reading.parent
        while parent not in now:
            if parent not in self._last:
                return 0
            parent = self._last[parent].parent
        return parent

    def proportional_bytes(self) -> int | None:
        """Sum of proportional memory; ``None`` where it is not for us. Slow for large processes."""
        found = [read_fields(f"{self._proc}/{pid}/smaps_rollup").get("Pss") for pid in self._last]
        known = [value for value in found if value is not None]
        return sum(known) * 1024 if known else None

    def swapped_bytes(self) -> int | None:
        """Memory that lies in swap; ``None`` where it is not told."""
        found = [read_fields(f"{self._proc}/{pid}/status").get("VmSwap") for pid in self._last]
        known = [value for value in found if value is not None]
        return sum(known) * 1024 if known else None

    def readings(self) -> tuple[ProcessReading, ...]:
        """Each process as it was at the last look."""
        return tuple(self._last.values())

    def switches(self) -> tuple[int, int]:
        """Voluntary and involuntary context switches of all living threads."""
        voluntary = involuntary = 0
        for pid in self._last:
            folder = f"{self._proc}/{pid}/task"
            for thread in names_in(folder):
                fields = read_fields(f"{folder}/{thread}/status")
                voluntary += fields.get("voluntary_ctxt_switches", 0)
                involuntary += fields.get("nonvoluntary_ctxt_switches", 0)
        return voluntary, involuntary
