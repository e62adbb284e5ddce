"""Energy of a plan: devices, host and building as separate lines, then carbon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.cost.span import Span, known, not_known, of_estimate, of_rate, point
from stepscope.schema.cost import EnergyCost
from stepscope.units import J_PER_KWH, S_PER_HOUR, format_energy, format_frac, format_hours

if TYPE_CHECKING:
    from stepscope.cost.chosen import Chosen
    from stepscope.cost.facts import RunFacts
    from stepscope.schema.cost import Basis, Estimate


def plan_energy(
    chosen: Chosen, gpu_hours: float, times: float, facts: RunFacts | None
) -> EnergyCost:
    """Energy of the whole plan.

    Args:
        chosen: The rates.
        gpu_hours: Device hours of all runs.
        times: How many times a watched run's energy that is.
        facts: The watched run, if there is one.
    """
    devices = device_energy(chosen, gpu_hours, times, facts)
    host = host_energy(chosen, devices, times, facts)
    device_span, host_span = of_estimate(devices), of_estimate(host)
    if facts is not None and facts.gpus == 0:
        device_span = point(0)
    if device_span is None or host_span is None:
        missing = "devices" if device_span is None else "host"
        why = f"the energy of the {missing} is not known"
        return EnergyCost(
            devices=devices, host=host, building=not_known("J", why), total=not_known("J", why)
        )
    it = device_span + host_span
    added = of_rate(chosen.pue).less_one()
    building = it * added
    how = f"a PUE of {chosen.pue.value:g}: {format_frac(added.value)} on top of devices and host"
    return EnergyCost(
        devices=devices,
        host=host,
        building=known(building, "J", "modelled", how),
        total=known(
            it + building,
            "J",
            "modelled",
            f"devices {devices.basis}, host {host.basis}, building modelled",
        ),
    )


def device_energy(
    chosen: Chosen, gpu_hours: float, times: float, facts: RunFacts | None
) -> Estimate:
    """What the devices draw: of the watched run, else from watts times time."""
    if facts is not None:
        if facts.gpus == 0:
            return not_known("J", "the run had no device")
        span = of_estimate(facts.devices)
        if span is not None:
            return multiplied(span, facts.devices, times)
    if chosen.watts is None:
        return not_known("J", "no device was stated whose power is known; use --device or --watts")
    seconds = gpu_hours * S_PER_HOUR
    watts = of_rate(chosen.watts)
    hours = format_hours(gpu_hours)
    if chosen.watts_stated:
        return known(
            watts.scaled(seconds), "J", "modelled", f"{hours} at the stated {watts.value:g} W"
        )
    drawn = watts * of_rate(chosen.draw)
    how = (
        f"{hours} at {format_frac(chosen.draw.value)} of {watts.value:g} W, the power limit of "
        f"{chosen.device}; nobody measured it"
    )
    return known(drawn.scaled(seconds), "J", "modelled", how)


def host_energy(
    chosen: Chosen, devices: Estimate, times: float, facts: RunFacts | None
) -> Estimate:
    """What the rest of the node draws: of the watched run, else a share of the devices'."""
    if facts is not None:
        span = of_estimate(facts.host)
        if span is not None:
            return multiplied(span, facts.host, times)
        if facts.gpus == 0:
            return not_known("J", facts.host.how)
    span = of_estimate(devices)
    if span is None:
        return not_known("J", "it is modelled as a share of the devices', which is not known")
    how = f"{format_frac(chosen.host.value)} of the devices' energy, an assumption"
    return known(span * of_rate(chosen.host), "J", "modelled", how)


def multiplied(span: Span, measured: Estimate, times: float) -> Estimate:
    """The energy of a watched run, so many times; other than once is a model, however it was measured."""
    if times == 1:
        return measured
    basis: Basis = "modelled"
    how = f"{times:,.6g} times the run's {format_energy(span.value)}, {measured.basis}: {measured.how}"
    return known(span.scaled(times), "J", basis, how)


def carbon_of(chosen: Chosen, energy: EnergyCost) -> Estimate:
    """Greenhouse gas of making the energy, in grams of CO2 equivalent."""
    span = of_estimate(energy.total)
    if span is None:
        return not_known("gCO2e", "the energy is not known")
    grid = of_rate(chosen.grid)
    how = (
        f"{format_energy(span.value)} at {grid.value:g} g a kWh ({chosen.grid.key or 'stated'}); "
        "making and scrapping the machines is not in it"
    )
    return known((span * grid).scaled(1 / J_PER_KWH), "gCO2e", "modelled", how)
