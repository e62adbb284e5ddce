"""Energy from samples: a device's counter first, then its power over time, then a model; the host's meters."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.schema.cost import Estimate
from stepscope.watch.curve import Curve, added, of_counter, of_rate

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
MOST_GAP_S = 45.0
"""Power is not drawn as a line across a longer gap between samples; in long runs they lie 30 s apart."""

MANY = 10
"""From so many samples on their usual distance is known."""


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
    drawn = device_curve(start, rows)
    if drawn.basis == "not-known":
        return no_energy(drawn.how)
    return estimate(drawn.curve.total, drawn.error_j, drawn.basis, drawn.how)


class Drawn(Struct, frozen=True):
    """How a device's energy came together.

    Attributes:
        curve: Joules over the time of the watch; empty where they are not known.
        error_j: What its total may be off by.
        basis: See :data:`~stepscope.schema.cost.Basis`.
        how: Where it comes from, or why it is not known.
    """

    curve: Curve
    error_j: float
    basis: Basis
    how: str


def device_curve(start: DeviceStart, rows: Sequence[DeviceSample]) -> Drawn:
    """Energy of a whole device over time: counter, else power, else limit and utilisation.

    Args:
        start: What the device is.
        rows: Its samples in order, without those of a device that was lost.
    """
    nothing = Curve((), ())
    if len(rows) < 2:
        return Drawn(nothing, 0.0, "not-known", "fewer than two samples were taken")
    counts = [(row.at_s, row.energy_mj / 1000) for row in rows if row.energy_mj is not None]
    counted = of_counter(counts)
    if counted.total > 0:
        return Drawn(counted, COUNTER_STEP_J, "measured", "the device's energy counter")
    most_gap_s = gap_of(rows)
    watts = of_rate(
        [(row.at_s, row.watts) for row in rows if row.watts is not None], most_gap_s=most_gap_s
    )
    if watts.total > 0:
        why = "its energy counter stands still" if counted.is_known else "it has no energy counter"
        how = f"its power over time; {why}"
        return Drawn(watts, POWER_ERROR_FRAC * watts.total, "measured", how)
    busy = [(row.at_s, row.busy_frac) for row in rows if row.busy_frac is not None]
    limit = start.watts_limit
    if limit is not None and len(busy) >= 2:
        modelled = of_rate([(at, share * limit) for at, share in busy], most_gap_s=most_gap_s)
        if modelled.total == 0:
            how = "it was idle and tells neither energy nor power, so its idle draw is not known"
            return Drawn(nothing, 0.0, "not-known", how)
        how = f"utilisation x {limit:g} W, its limit; it tells neither energy nor power"
        return Drawn(modelled, MODEL_ERROR_FRAC * modelled.total, "modelled", how)
    return Drawn(nothing, 0.0, "not-known", "the device tells neither energy nor power")


def gap_of(rows: Sequence[DeviceSample]) -> float:
    """The longest gap that a line is drawn across: samples may have been asked for more seldom than usual."""
    if len(rows) < MANY:
        return MOST_GAP_S
    return max(MOST_GAP_S, 1.5 * median(b.at_s - a.at_s for a, b in pairwise(rows)))


def host_energy(meters: Sequence[MeterSample], hosts: Sequence[HostSample]) -> Estimate:
    """The job's share of processor and memory energy on one node.

    The counters are the node's. The job's share is its CPU time over the node's busy time, which leaves
    the idle draw to those who work; so the figure is *attributed*.

    Args:
        meters: Rows of the node's counters.
        hosts: Rows of the watched processes.
    """
    drawn = host_curve(meters, hosts)
    if drawn.basis == "not-known":
        return no_energy(drawn.how)
    joules = drawn.curve.total
    return Estimate(
        value=joules,
        low=joules * 0.8,
        high=joules + drawn.error_j,
        unit="J",
        basis=drawn.basis,
        how=drawn.how,
    )


def host_curve(meters: Sequence[MeterSample], hosts: Sequence[HostSample]) -> Drawn:
    """The job's share of processor and memory energy on one node over time; see :func:`host_energy`."""
    nothing = Curve((), ())
    found: dict[str, list[MeterSample]] = {}
    for row in meters:
        found.setdefault(row.meter, []).append(row)
    cray = [
        rows
        for meter, rows in found.items()
        if meter.startswith("cray:") and rows[0].part in {"cpu", "memory"}
    ]
    chosen = cray or [rows for meter, rows in found.items() if meter.startswith("rapl:")]
    if not chosen:
        return Drawn(nothing, 0.0, "not-known", "this node has no energy counter that we may read")
    share = busy_share(hosts)
    if share is None:
        why = "the node's busy time is not known, so no share of its energy is the job's"
        return Drawn(nothing, 0.0, "not-known", why)
    # A counter's rows count from its first reading, which is at the start of the watch.
    whole = added(
        Curve((0.0, *(row.at_s for row in rows)), (0.0, *(row.joules for row in rows)))
        if rows[0].at_s > 0
        else of_counter([(row.at_s, row.joules) for row in rows])
        for rows in chosen
    )
    source = "the node's own counters (Cray)" if cray else "the processor's counters (RAPL)"
    parts = sorted({rows[0].part for rows in chosen})
    joules = whole.total
    how = f"{share:.0%} of {joules:,.0f} J of {' and '.join(parts)}, by CPU time; {source}"
    curve = Curve(whole.times, tuple(total * share for total in whole.totals))
    return Drawn(curve, joules * (1 - share), "attributed", how)


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
