"""The sampler of the watched processes and the node around them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.schema.samples import HostSample
from stepscope.watch.allowance import CREDIT_S, Allowance
from stepscope.watch.cgroup import find_groups, limits_of
from stepscope.watch.processes import ProcessRows
from stepscope.watch.surroundings import (
    available_bytes,
    node_cpu_s,
    open_network_systems,
    pressure_us,
    shared_memory,
)

if TYPE_CHECKING:
    from stepscope.schema.sampler import Moment
    from stepscope.schema.samples import Sample
    from stepscope.watch.portable_tree import PortableTree
    from stepscope.watch.process_tree import ProcessTree

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  looked at, never written to
FIND_EVERY_S = 1.0
"""Processes are looked for so often."""
SLOW_EVERY_S = 5.0
"""What is slow to read, for instance proportional memory, is read so often; more often at the start."""


class HostSampler:
    """Samples a process tree and its surroundings.

    Args:
        tree: The processes.
        pid: One of them, whose control group is read.
        root: Top of the file tree.
    """

    def __init__(self, tree: ProcessTree | PortableTree, pid: int, root: Path = Path("/")) -> None:
        self._tree, self._root = tree, root
        self._finding, self._slow = Allowance(), Allowance(CREDIT_S)
        self._processes = ProcessRows()
        self._groups = find_groups(pid, root)

    def open(self) -> tuple[Sample, ...]:
        """Nothing more to find out."""
        return ()

    def sample(self, moment: Moment) -> tuple[Sample, ...]:
        """The tree and its surroundings now."""
        at_s = moment.at_s
        if self._finding.allows(at_s):
            with self._finding.spending(at_s, FIND_EVERY_S):
                self._tree.find()
        reading = self._tree.sample()
        proportional: int | None = None
        swapped: int | None = None
        switches: tuple[int | None, int | None] = (None, None)
        network: tuple[str, ...] = ()
        if self._slow.allows(at_s):
            with self._slow.spending(at_s, min(SLOW_EVERY_S, 0.5 + at_s / 2)):
                proportional = self._tree.proportional_bytes()
                swapped = self._tree.swapped_bytes()
                switches = self._tree.switches()
                network = open_network_systems(self._root / "proc", self._tree.pids)
        limits = limits_of(self._groups)
        shared = shared_memory(self._root / SHARED_MEMORY.relative_to("/"))
        io = reading.io
        row = HostSample(
            at_s=at_s,
            processes=reading.processes,
            threads=reading.threads,
            cpu_s=reading.cpu_s,
            node_cpu_s=node_cpu_s(self._root),
            rss_bytes=reading.rss_bytes,
            pss_bytes=proportional,
            read_bytes=None if io is None else io.read_bytes,
            written_bytes=None if io is None else io.written_bytes,
            read_calls=None if io is None else io.read_calls,
            storage_read_bytes=None if io is None else io.storage_read_bytes,
            storage_written_bytes=None if io is None else io.storage_written_bytes,
            voluntary_switches=switches[0],
            involuntary_switches=switches[1],
            cgroup_bytes=limits.memory_bytes,
            oom_kills=limits.oom_kills,
            held_back=limits.held_back,
            swap_bytes=swapped,
            available_bytes=available_bytes(self._root),
            throttled_us=limits.throttled_us,
            shm_bytes=None if shared is None else shared[0],
            cpu_pressure_us=pressure_us(self._root, "cpu", "some", self._groups.pressure),
            io_pressure_us=pressure_us(self._root, "io", "some", self._groups.pressure),
            memory_pressure_us=pressure_us(self._root, "memory", "full", self._groups.pressure),
            network_reads=network,
        )
        each = self._processes.of(at_s, self._tree.readings(), is_last=moment.is_last)
        return (row, *each)

    def close(self) -> None:
        """Nothing was taken."""
