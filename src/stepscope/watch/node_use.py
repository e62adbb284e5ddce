"""What the watched processes used on one node, all its watchers together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from stepscope.schema.watch_summary import NodeUse
from stepscope.watch.growth import steady_growth
from stepscope.watch.processes import dearest_of, uses_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stepscope.schema.samples import HostSample
    from stepscope.watch.store import Watched

ADDS_UP = (
    "cpu_s", "read_bytes", "written_bytes", "read_calls", "storage_read_bytes", "storage_written_bytes",
    "voluntary_switches", "involuntary_switches",
)  # fmt: skip
"""What counts from the start of a process."""
MOST_PROCESSES = 8
"""So many processes of a node stand in the summary."""


def node_of(node: str, some: Sequence[Watched]) -> NodeUse:
    """One node's use. What each watcher sees of its own processes is added; what all see is not.

    Args:
        node: Its name.
        some: Its watchers, at least one.
    """
    start = some[0].start
    wall = max(one.wall_s for one in some)
    hosts = [one.hosts for one in some]
    used = [used_of(one) for one in some]
    everything = [row for rows in hosts for row in rows]
    longest = max(hosts, key=len)
    lasts = [last_held(rows) for rows in hosts if rows]
    read, calls = total(used, "read_bytes"), total(used, "read_calls")
    growths = [growth for rows in hosts if (growth := memory_growth(rows)) is not None]
    throttled = gone(longest, "throttled_us")
    return NodeUse(
        node=node,
        wall_s=wall,
        tasks=len(some),
        cores=max(one.start.cores for one in some),
        gpus_allocated=start.gpus_allocated,
        visible_devices=start.visible_devices,
        cpu_s=sum(rows[-1].cpu_s for rows in used if rows),
        processes_peak=sum(peak(rows, "processes") or 0 for rows in hosts),
        threads_peak=sum(peak(rows, "threads") or 0 for rows in hosts),
        rss_peak_bytes=sum(peak(rows, "rss_bytes") or 0 for rows in hosts),
        pss_peak_bytes=sum_known(peak(rows, "pss_bytes") for rows in hosts),
        cgroup_peak_bytes=peak(everything, "cgroup_bytes"),
        memory_limit_bytes=start.memory_limit_bytes,
        machine_memory_bytes=start.machine_memory_bytes,
        oom_kills=gone(longest, "oom_kills"),
        held_back=gone(longest, "held_back"),
        swap_peak_bytes=sum_known(peak(rows, "swap_bytes") for rows in hosts),
        shm_bytes=start.shm_bytes,
        shm_peak_bytes=peak(everything, "shm_bytes"),
        read_bytes=read,
        written_bytes=total(used, "written_bytes"),
        storage_read_bytes=total(used, "storage_read_bytes"),
        storage_written_bytes=total(used, "storage_written_bytes"),
        mean_read_bytes=read / calls if read is not None and calls else None,
        cpu_pressure_frac=share_of_time(longest, "cpu_pressure_us"),
        io_pressure_frac=share_of_time(longest, "io_pressure_us"),
        memory_pressure_frac=share_of_time(longest, "memory_pressure_us"),
        throttled_s=None if throttled is None else throttled / 1e6,
        voluntary_switches=sum_known(peak(rows, "voluntary_switches") for rows in used),
        involuntary_switches=sum_known(peak(rows, "involuntary_switches") for rows in used),
        network_reads=tuple(sorted({name for row in everything for name in row.network_reads})),
        available_last_bytes=min(
            (row.available_bytes for row in lasts if row.available_bytes is not None), default=None
        ),
        rss_last_bytes=sum(row.rss_bytes for row in lasts),
        rss_growth_bytes_per_s=sum(growths) if growths else None,
        processes=dearest_of(
            (uses_of(one.processes, attached=one.start.attached) for one in some), MOST_PROCESSES
        ),
    )


def used_of(one: Watched) -> tuple[HostSample, ...]:
    """A watcher's rows with what adds up counted from the start of the watch.

    What a command uses before its first sample is its own; of processes that were there before, it is not.
    """
    if not one.start.attached:
        return one.hosts
    known = {
        name: [value for row in one.hosts if (value := getattr(row, name)) is not None]
        for name in ADDS_UP
    }
    return (
        tuple(
            msgspec.structs.replace(
                row,
                **{
                    # What was seen once has no difference.
                    name: max(value - values[0], 0) if len(values) > 1 else None
                    for name, values in known.items()
                    if (value := getattr(row, name)) is not None
                },
            )
            for row in one.hosts
        )
        if len(one.hosts) > 1
        else one.hosts
    )


def memory_growth(rows: Sequence[HostSample]) -> float | None:
    """Steady growth of the processes' memory; the last sample, when they are ending, is left out."""
    return steady_growth([(row.at_s, float(row.rss_bytes)) for row in rows[:-1]])


def last_held(rows: Sequence[HostSample]) -> HostSample:
    """The last row with memory in it: a process that has ended holds none any more."""
    return next((row for row in reversed(rows) if row.rss_bytes), rows[-1])


def peak(rows: Sequence[HostSample], name: str) -> int | None:
    """Largest value of a column; ``None`` when it was never seen."""
    return max((value for row in rows if (value := getattr(row, name)) is not None), default=None)


def total(hosts: Iterable[Sequence[HostSample]], name: str) -> int | None:
    """Sum over watchers of a cumulative column's largest value; ``None`` when none saw it."""
    return sum_known(peak(rows, name) for rows in hosts)


def sum_known(values: Iterable[int | None]) -> int | None:
    """Sum of what is known; ``None`` when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def gone(rows: Sequence[HostSample], name: str) -> int | None:
    """How much a cumulative column of the surroundings went up during the watch."""
    known = [value for row in rows if (value := getattr(row, name)) is not None]
    return known[-1] - known[0] if len(known) >= 2 else None


def share_of_time(rows: Sequence[HostSample], name: str) -> float | None:
    """How much of the time a column of microseconds went up, between 0 and 1."""
    risen = gone(rows, name)
    if risen is None:
        return None
    seconds = rows[-1].at_s - rows[0].at_s
    return min(max(risen / 1e6 / seconds, 0.0), 1.0) if seconds > 0 else None
