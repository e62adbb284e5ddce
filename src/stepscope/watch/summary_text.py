"""The summary of a watched run as plain text: allocated, busy and working kept apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.units import format_bytes, format_energy, format_frac, format_ms, format_value
from stepscope.watch.finding_text import finding_lines
from stepscope.watch.node_text import node_lines

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.cost import Estimate
    from stepscope.schema.watch_summary import DeviceUse, WatchSummary

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
    for device in summary.devices:
        lines += [device_line(device), *traffic_lines(device)]
    lines += energy_lines(summary)
    # Why the host's energy is not known stands in its own line.
    said = summary.host_energy.how
    lines += [f"Note     {notice.text}" for notice in summary.notices if notice.text != said]
    lines += finding_lines(summary.findings)
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


def traffic_lines(device: DeviceUse) -> list[str]:
    """What a device tells of its links and clocks, below its line; nothing where it tells nothing."""
    facts = [
        f"{name} {format_bytes(rate)}/s"
        for name, rate in (("PCIe", device.pcie_bytes_per_s), ("NVLink", device.nvlink_bytes_per_s))
        if rate is not None
    ]
    if device.clock_mhz is not None:
        facts.append(f"clock {device.clock_mhz:,.0f} MHz")
    if device.capped_frac:
        facts.append(f"at its power limit {format_frac(device.capped_frac)} of the time")
    if device.throttled_frac:
        why = ", ".join(device.throttle_reasons)
        facts.append(f"held back {format_frac(device.throttled_frac)} of the time ({why})")
    return [f"    {', '.join(facts)}"] if facts else []


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
