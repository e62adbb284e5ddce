"""The process tree on systems without ``/proc``, through psutil: less is seen, the rest the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil

from stepscope.watch.process_tree import TreeReading

if TYPE_CHECKING:
    from stepscope.watch.proc_file import ProcessReading


class PortableTree:
    """Follows one process and its descendants; time of ended ones is kept from their last reading.

    Args:
        root: The process, or several.
    """

    def __init__(self, root: int | frozenset[int]) -> None:
        self._roots = frozenset({root}) if isinstance(root, int) else root
        self._known: dict[int, psutil.Process] = {}
        self._cpu_s: dict[tuple[int, float], float] = {}
        self.find()

    @property
    def pids(self) -> frozenset[int]:
        """The processes that were there at the last look."""
        return frozenset(self._known)

    def find(self) -> None:
        """Looks for descendants that are new."""
        for pid in self._roots:
            try:
                root = psutil.Process(pid)
                for process in (root, *root.children(recursive=True)):
                    self._known.setdefault(process.pid, process)
            except psutil.Error:
                continue

    def add(self, pids: frozenset[int]) -> None:
        """More processes to follow."""
        self._roots |= pids

    def sample(self) -> TreeReading:
        """Reads every known process again."""
        threads = rss = 0
        for pid, process in list(self._known.items()):
            try:
                with process.oneshot():
                    if process.status() == psutil.STATUS_ZOMBIE:
                        continue
                    times = process.cpu_times()
                    threads += process.num_threads()
                    rss += process.memory_info().rss
                    self._cpu_s[pid, process.create_time()] = times.user + times.system
            except psutil.Error:
                del self._known[pid]
        return TreeReading(
            processes=len(self._known),
            threads=threads,
            cpu_s=sum(self._cpu_s.values()),
            rss_bytes=rss,
            io=None,
        )

    def proportional_bytes(self) -> int | None:
        """Not to be had here."""
        return None

    def swapped_bytes(self) -> int | None:
        """Not to be had here."""
        return None

    def readings(self) -> tuple[ProcessReading, ...]:
        """Not told one by one here."""
        return ()

    def switches(self) -> tuple[int, int]:
        """Voluntary and involuntary context switches, as far as the system tells."""
        voluntary = involuntary = 0
        for process in self._known.values():
            try:
                count = process.num_ctx_switches()
            except psutil.Error:
                continue
            voluntary += count.voluntary
            involuntary += count.involuntary
        return voluntary, involuntary
