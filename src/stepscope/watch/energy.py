"""Energy from samples: a device's counter first, then its power over time, then a model; the host's meters."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from stepscope.schema.cost import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.schema.cost import Basis
    from stepscope.schema.samples import DeviceSample, DeviceStart, HostSample, MeterSample

COUNTER_STEP_J = 0.1 * 1000
"""A counter moves about every 100 ms, so each end may be off by a tenth of a second at 1 kW."""
POWER_ERROR_FRAC = 0.05
"""Drivers tell power to 5 %."""
MODEL_ERROR_FRAC = 0.4
"""Power from a limit and utilisation errs by 27 to 37 % (arXiv 2506.14551)."""
MOST_GAP_S = 30.0
"""Power is not drawn as a line across a longer gap between samples."""


def estimate(joules: float, error: float, basis: Basis, how: str) -> Estimate:
    """Joules with a range of so many joules to both sides."""
    return Estimate(
        value=joules,
        low=max(joules - error, 0.0),
        high=joules + error,
        unit="J",
        basis=basis,
        how=how,
    )


def no_energy(why: str) -> Estimate:
    """Energy that is not known, and why."""
    return Estimate(value=None, low=None, high=None, unit="J", basis="not-known", how=why)


def device_energy(start: DeviceStart, rows: Sequence[DeviceSample]) -> Estimate:
    """What a device drew from its first to its last sample; a slice is given its share of the device's.

    Args:
        start: What the device is.
        rows: Its samples in order.
    """
    live = [row for row in rows if not row.lost]
    whole = whole_energy(start, live)
    if start.slice_frac >= 1 or whole.value is None or whole.low is None or whole.high is None:
        return whole
    share = start.slice_frac
    return Estimate(
        value=whole.value * share,
        low=0.0,
        high=whole.high,
        unit="J",
        basis="attributed",
        how=f"{share:.3g} of the whole device's energy, by its slices; {whole.how}",
    )


def whole_energy(start: DeviceStart, rows: Sequence[DeviceSample]) -> Estimate:
    """Energy of a whole device: counter, else power over time, else limit and utilisation."""
    if len(rows) < 2:
        return no_energy("fewer than two samples were taken")
    counted = counter_joules([row.energy_mj for row in rows if row.energy_mj is not None])
    drawn = integrated_joules([(row.at_s, row.watts) for row in rows if row.watts is not None])
    if counted:
        return estimate(counted, COUNTER_STEP_J, "measured", "the device's energy counter")
    if drawn:
        why = "its energy counter stands still" if counted == 0 else "it has no energy counter"
        return estimate(drawn, POWER_ERROR_FRAC * drawn, "measured", f"its power over time; {why}")
    busy = [(row.at_s, row.busy_frac) for row in rows if row.busy_frac is not None]
    if start.watts_limit is not None and len(busy) >= 2:
        share = integrated_joules(busy)
        joules = share * start.watts_limit
        how = f"utilisation x {start.watts_limit:g} W, its limit; it tells neither energy nor power"
        return estimate(joules, MODEL_ERROR_FRAC * joules, "modelled", how)
    return no_energy("the device tells neither energy nor power")


def counter_joules(counts: Sequence[int]) -> float | None:
    """Joules that a counter of millijoules went up; ``None`` below two readings.

    A counter that fell has started anew (the driver was loaded again), and counts from 0.
    """
    if len(counts) < 2:
        return None
    total = 0
    for before, after in itertools.pairwise(counts):
        total += after - before if after >= before else after
    return total / 1000


def integrated_joules(points: Sequence[tuple[float, float]]) -> float:
    """Area under a line through the points; a gap of more than half a minute counts as half a minute."""
    total = 0.0
    for (before, low), (after, high) in itertools.pairwise(points):
        total += min(after - before, MOST_GAP_S) * (low + high) / 2
    return total


def host_energy(meters: Sequence[MeterSample], hosts: Sequence[HostSample]) -> Estimate:
    """The job's share of processor and memory energy on one node.

    The counters are the node's. The job's share is its CPU time over the node's busy time, which leaves
    the idle draw to those who work; so the figure is *attributed*.

    Args:
        meters: Rows of the node's counters.
        hosts: Rows of the watched processes.
    """
    last = {row.meter: row for row in meters}
    cray = [row for row in last.values() if row.meter.startswith("cray:")]
    rapl = [row for row in last.values() if row.meter.startswith("rapl:")]
    chosen = [row for row in cray if row.part in {"cpu", "memory"}] or rapl
    if not chosen:
        return no_energy("this node has no energy counter that we may read")
    joules = sum(row.joules for row in chosen)
    source = (
        "the node's own counters (Cray)" if chosen[0] in cray else "the processor's counters (RAPL)"
    )
    share = busy_share(hosts)
    if share is None:
        return no_energy(
            "the node's busy time is not known, so no share of its energy is the job's"
        )
    parts = sorted({row.part for row in chosen})
    how = f"{share:.0%} of {joules:,.0f} J of {' and '.join(parts)}, by CPU time; {source}"
    return Estimate(
        value=joules * share,
        low=joules * share * 0.8,
        high=joules,
        unit="J",
        basis="attributed",
        how=how,
    )


def busy_share(hosts: Sequence[HostSample]) -> float | None:
    """The job's CPU time over the node's busy time, at most 1."""
    seen = [row for row in hosts if row.node_cpu_s is not None]
    if len(seen) < 2:
        return None
    first, last = seen[0], seen[-1]
    assert first.node_cpu_s is not None
    assert last.node_cpu_s is not None
    node = last.node_cpu_s - first.node_cpu_s
    return min((last.cpu_s - first.cpu_s) / node, 1.0) if node > 0 else None
