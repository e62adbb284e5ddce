"""The summary of a watched run as plain text: allocated, busy and working kept apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.units import format_bytes, format_energy, format_frac, format_ms, format_value

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.cost import Estimate
    from stepscope.schema.watch_summary import DeviceUse, NodeUse, WatchSummary

LEAST_TREND = 0.05
"""Steps that change by less than this share over the run stay the same."""


def render(summary: WatchSummary, folder: Path) -> str:
    """The whole summary."""
    lines = ["", f"stepscope watch: {ending(summary)} after {format_ms(summary.wall_s * 1e3)}"]
    for node in summary.nodes:
        lines += node_lines(node, len(summary.nodes) > 1)
    lines += step_lines(summary)
    if summary.devices:
        lines.append(
            "GPUs     allocated    busy  working  tensor   memory peak   mean draw   energy"
        )
    lines += [device_line(device) for device in summary.devices]
    lines += energy_lines(summary)
    lines += [f"Note     {notice.text}" for notice in summary.notices]
    lines += finding_lines(summary)
    if summary.own_cpu_s is not None and summary.own_rss_bytes is not None:
        share = summary.own_cpu_s / max(summary.wall_s, 1e-9)
        lines.append(
            f"Watching took {format_ms(summary.own_cpu_s * 1e3)} of CPU time ({format_frac(share)} of a core) and "
            f"{format_bytes(summary.own_rss_bytes)}; samples are in {folder}"
        )
    return "\n".join(lines) + "\n"


def step_lines(summary: WatchSummary) -> list[str]:
    """How fast steps went, which was the slowest, and what they wait for and grow by."""
    use = summary.steps
    if use is None:
        return []
    rate = f"{use.per_s:.4g} a second, " if use.per_s else ""
    where = f" on rank {use.slowest_rank}" if use.ranks > 1 else ""
    line = (
        f"Steps    {use.steps:,} of training, {rate}median {format_ms(use.median_ms)}, slowest "
        f"{format_ms(use.slowest_ms)} (step {use.slowest_step:,}{where})"
    )
    if use.trend_frac is not None and abs(use.trend_frac) >= LEAST_TREND:
        longer = "longer" if use.trend_frac > 0 else "shorter"
        line += f", {format_frac(abs(use.trend_frac))} {longer} at the end than at the beginning"
    facts = []
    if use.wait_frac is not None:
        facts.append(f"{format_frac(use.wait_frac)} of their time they wait for the DataLoader")
    growth = sum(node.rss_growth_bytes_per_s or 0.0 for node in summary.nodes)
    if growth and use.per_s:
        facts.append(f"memory grows by {format_bytes(growth / use.per_s)} a step")
    return [line, *([f"         {'; '.join(facts)}"] if facts else [])]


def ending(summary: WatchSummary) -> str:
    """How the run ended."""
    if summary.signal is not None:
        return f"ended by signal {summary.signal}"
    if summary.exit_status is not None:
        return f"exit status {summary.exit_status}"
    return "watched" if summary.complete else "no end seen"


def node_lines(node: NodeUse, named: bool) -> list[str]:
    """Processors, memory and files of a node."""
    where = f"{node.node}: " if named else ""
    used = node.cpu_s / node.wall_s if node.wall_s > 0 else 0.0
    lines = [
        (
            f"CPU      {where}{used:.2f} of {node.cores:g} core(s) on average ({format_ms(node.cpu_s * 1e3)} of CPU time), "
            f"{node.processes_peak} process(es), {node.threads_peak} threads at most"
        )
    ]
    memory = f"{format_bytes(node.rss_peak_bytes)} resident at most"
    if node.pss_peak_bytes is not None:
        memory += f", {format_bytes(node.pss_peak_bytes)} with shared pages counted once"
    limit = node.memory_limit_bytes or node.machine_memory_bytes
    if limit is not None:
        kind = "limit" if node.memory_limit_bytes else "of the machine"
        memory += f", {format_bytes(limit)} {kind}"
    lines.append(f"Memory   {where}{memory}")
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


def device_line(device: DeviceUse) -> str:
    """One device in one line."""
    name = f"{device.uuid[:12]:<14}" if len(device.uuid) > 12 else f"{device.uuid:<14}"
    memory = (
        "not told" if device.memory_peak_bytes is None else format_bytes(device.memory_peak_bytes)
    )
    lost = "  lost" if device.lost else ""
    return (
        f"  {name} {format_ms(device.seconds * 1e3):>8}  {share(device.busy_frac):>6}  "
        f"{share(device.working_frac):>7}  {share(device.tensor_frac):>6}   {memory:>11}   "
        f"{format_value(device.watts_mean, 'W') if device.watts_mean is not None else 'not told':>9}   "
        f"{energy(device.energy)}{lost}"
    )


def share(value: float | None) -> str:
    """A share; a dash where the device does not tell."""
    return "-" if value is None else format_frac(value)


def energy(estimate: Estimate) -> str:
    """An energy with its basis."""
    if estimate.value is None:
        return "not known"
    return f"{format_energy(estimate.value)} ({estimate.basis})"


def energy_lines(summary: WatchSummary) -> list[str]:
    """Energy of devices and host; what is not known comes with the reason."""
    lines = []
    known = [device.energy.value for device in summary.devices if device.energy.value is not None]
    if known and len(known) == len(summary.devices):
        lines.append(
            f"Energy   GPUs {format_energy(sum(known))} ({summary.devices[0].energy.basis}: {summary.devices[0].energy.how})"
        )
    host = summary.host_energy
    words = energy(host) if host.value is not None else "not known"
    lines.append(f"Energy   CPU and memory {words}: {host.how}")
    return lines


def finding_lines(summary: WatchSummary) -> list[str]:
    """Each finding with its evidence and what to type instead."""
    lines = []
    for finding in summary.findings:
        lines.append(f"{finding.code} {finding.severity}: {finding.title}.")
        facts = [f"{row.name} {format_value(row.value, row.unit)}" for row in finding.evidence]
        lines.append(f"      {', '.join(facts)}")
        lines.append(f"      {finding.action}")
        lines += [f"        {line}" for line in finding.snippet.splitlines()]
    return lines
