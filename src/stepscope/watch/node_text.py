"""What a node's processes used, as plain text: processors, memory, files and what they waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.units import format_bytes, format_frac, format_ms

if TYPE_CHECKING:
    from stepscope.schema.watch_summary import NodeUse

MOST_PROCESSES = 5
"""So many processes are named, the others are in the sum."""
LEAST_CPU_S = 0.1
"""Processes that used less are not worth a word."""


def node_lines(node: NodeUse, named: bool) -> list[str]:
    """All lines of a node.

    Args:
        node: The node.
        named: Whether there are several, so that its name is needed.
    """
    where = f"{node.node}: " if named else ""
    lines = [f"CPU      {where}{processors(node)}"]
    lines += [f"         {line}" for line in (processes(node), switches(node)) if line]
    lines.append(f"Memory   {where}{memory(node)}")
    lines += [f"         {line}" for line in (surroundings(node),) if line]
    if node.read_bytes is not None:
        lines.append(
            f"Files    {where}{format_bytes(node.read_bytes)} read, {format_bytes(node.written_bytes or 0)} written, "
            f"{format_bytes(node.storage_read_bytes or 0)} of the reads came from a disk"
        )
    waits = [
        f"{name} {format_frac(value)}"
        for name, value in (
            ("a core", node.cpu_pressure_frac),
            ("a disk", node.io_pressure_frac),
            ("memory (all tasks)", node.memory_pressure_frac),
        )
        if value is not None and value >= 0.01
    ]
    if waits:
        lines.append(f"Waiting  {where}for {', '.join(waits)} of the time")
    if node.throttled_s:
        lines.append(f"Quota    {where}stopped the job for {format_ms(node.throttled_s * 1e3)}")
    return lines


def processors(node: NodeUse) -> str:
    """Cores in use of those that the allocation has."""
    used = node.cpu_s / node.wall_s if node.wall_s > 0 else 0.0
    return (
        f"{used:.2f} of {node.cores:g} core(s) on average ({format_ms(node.cpu_s * 1e3)} of CPU time), "
        f"{node.processes_peak} process(es), {node.threads_peak} threads at most"
    )


def processes(node: NodeUse) -> str:
    """Where the CPU time went, process by process; nothing where there was one."""
    told = [one for one in node.processes if one.cpu_s >= LEAST_CPU_S][:MOST_PROCESSES]
    if node.processes_peak < 2 or not told:
        return ""
    # A program chooses its name, so only what can be printed is.
    named = [
        f"{''.join(c for c in one.name if c.isprintable())} {one.pid} {format_ms(one.cpu_s * 1e3)}"
        for one in told
    ]
    return f"by process: {', '.join(named)}"


def switches(node: NodeUse) -> str:
    """Context switches a second: of one's own will when waiting, against it when cores are too few."""
    if node.voluntary_switches is None or node.involuntary_switches is None or node.wall_s <= 0:
        return ""
    willing, forced = (
        count / node.wall_s for count in (node.voluntary_switches, node.involuntary_switches)
    )
    return f"context switches: {willing:,.0f}/s to wait, {forced:,.0f}/s because others wanted the core"


def memory(node: NodeUse) -> str:
    """Memory of the processes, and what they may have."""
    told = f"{format_bytes(node.rss_peak_bytes)} resident at most"
    if node.pss_peak_bytes is not None:
        told += f", {format_bytes(node.pss_peak_bytes)} with shared pages counted once"
    limit = node.memory_limit_bytes or node.machine_memory_bytes
    if limit is not None:
        kind = "limit" if node.memory_limit_bytes else "of the machine"
        told += f", {format_bytes(limit)} {kind}"
    return told


def surroundings(node: NodeUse) -> str:
    """Memory of the control group, of ``/dev/shm`` and in swap."""
    told = []
    if node.cgroup_peak_bytes is not None:
        told.append(
            f"control group {format_bytes(node.cgroup_peak_bytes)} at most, caches included"
        )
    if node.shm_peak_bytes is not None and node.shm_bytes:
        told.append(
            f"/dev/shm {format_bytes(node.shm_peak_bytes)} of {format_bytes(node.shm_bytes)}"  # noqa: S108
        )
    if node.swap_peak_bytes:
        told.append(f"{format_bytes(node.swap_peak_bytes)} in swap")
    return ", ".join(told)
