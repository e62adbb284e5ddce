"""What the job made of its devices: each counted once, however many watchers saw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.watch_summary import DeviceUse
from stepscope.watch.energy import device_energy
from stepscope.watch.growth import steady_growth

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.schema.samples import DeviceSample, DeviceStart
    from stepscope.watch.store import Watched

POWER_CAP = 0x4
HELD_BACK = {
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}
"""The driver's bits (``nvmlClocksEventReason...``) that mean trouble, and their names."""


def devices_of(watched: Sequence[Watched]) -> tuple[DeviceUse, ...]:
    """All devices by node and UUID; of several watchers of a device the one with most samples is taken."""
    best: dict[str, tuple[str, DeviceStart, tuple[DeviceSample, ...]]] = {}
    used: dict[str, list[bool | None]] = {}
    for one in watched:
        for start in one.device_starts:
            rows = one.devices.get(start.uuid, ())
            used.setdefault(start.uuid, []).append(was_used(rows))
            if start.uuid not in best or len(rows) > len(best[start.uuid][2]):
                best[start.uuid] = (one.start.node, start, rows)
    return tuple(
        device_use(node, start, rows, any_used(used[uuid]))
        for uuid, (node, start, rows) in best.items()
    )


def was_used(rows: Sequence[DeviceSample]) -> bool | None:
    """Whether a process of the watched was seen on it; ``None`` where that could not be seen."""
    known = [row.job_processes for row in rows if row.job_processes is not None]
    return any(known) if known else None


def any_used(answers: Sequence[bool | None]) -> bool | None:
    """Whether any watcher's processes used it; ``None`` when none could see and none saw use."""
    if any(answers):
        return True
    return None if None in answers else False


def device_use(
    node: str, start: DeviceStart, rows: Sequence[DeviceSample], used: bool | None
) -> DeviceUse:
    """One device's use."""
    live = [row for row in rows if not row.lost]
    held = [row.events for row in live if row.events is not None]
    memory = [(row.at_s, float(row.memory_bytes)) for row in live if row.memory_bytes is not None]
    reasons = sorted({name for bits in held for bit, name in HELD_BACK.items() if bits & bit})
    return DeviceUse(
        node=node,
        uuid=start.uuid,
        name=start.name,
        seconds=live[-1].at_s - live[0].at_s if live else 0.0,
        samples=len(live),
        busy_frac=mean(live, lambda row: row.busy_frac),
        longest_idle_s=longest_idle(live),
        working_frac=mean(live, lambda row: row.working_frac),
        tensor_frac=mean(live, lambda row: row.tensor_frac),
        memory_peak_bytes=int(max(value for _, value in memory)) if memory else None,
        memory_bytes=start.memory_bytes,
        memory_last_bytes=int(memory[-1][1]) if memory else None,
        memory_growth_bytes_per_s=steady_growth(memory[:-1]),
        watts_mean=mean(live, lambda row: row.watts),
        watts_limit=start.watts_limit,
        clock_mhz=mean(live, lambda row: row.clock_mhz),
        pcie_bytes_per_s=mean(
            live, lambda row: both(row.pcie_sent_bytes_per_s, row.pcie_received_bytes_per_s)
        ),
        nvlink_bytes_per_s=mean(live, lambda row: row.nvlink_bytes_per_s),
        throttled_frac=sum(any(bits & bit for bit in HELD_BACK) for bits in held) / len(held)
        if held
        else None,
        capped_frac=sum(bool(bits & POWER_CAP) for bits in held) / len(held) if held else None,
        throttle_reasons=tuple(reasons),
        used=used,
        lost=any(row.lost for row in rows),
        energy=device_energy(start, rows),
    )


def mean(rows: Sequence[DeviceSample], get: Callable[[DeviceSample], float | None]) -> float | None:
    """Mean over the time of a column, each sample standing for the time since the one before it."""
    known = [(row.at_s, value) for row in rows if (value := get(row)) is not None]
    if not known:
        return None
    weighted = [
        (known[place][0] - known[place - 1][0], known[place][1]) for place in range(1, len(known))
    ]
    seconds = sum(weight for weight, _ in weighted)
    if seconds <= 0:
        return known[-1][1]
    return sum(weight * value for weight, value in weighted) / seconds


def both(one: float | None, other: float | None) -> float | None:
    """The sum; ``None`` when one of them is not known."""
    return None if one is None or other is None else one + other


def longest_idle(rows: Sequence[DeviceSample]) -> float | None:
    """Longest stretch of samples without any kernel; ``None`` where the driver does not tell."""
    known = [row for row in rows if row.busy_frac is not None]
    if not known:
        return None
    longest, since = 0.0, None
    for row in known:
        if row.busy_frac:
            since = None
            continue
        since = row.at_s if since is None else since
        longest = max(longest, row.at_s - since)
    return longest
