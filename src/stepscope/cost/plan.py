"""From a plan, or a watched run and how often, to its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from stepscope._version import __version__
from stepscope.cost.chosen import choose, without_device
from stepscope.cost.energy import carbon_of, plan_energy
from stepscope.cost.money import core_units, electricity, rent, rent_of_cores, site_units, waste
from stepscope.cost.options import YEAR_HOURS, with_environment
from stepscope.cost.published import beside
from stepscope.cost.rates import load_book
from stepscope.errors import OptionError
from stepscope.schema.cost import CostReport, PublishedFigure, RateUsed
from stepscope.units import S_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.cost.chosen import Chosen
    from stepscope.cost.facts import RunFacts
    from stepscope.cost.options import CostOptions


def price_plan(
    options: CostOptions, environ: Mapping[str, str], facts: RunFacts | None = None
) -> CostReport:
    """What a plan costs.

    Args:
        options: The plan as stated on the command line.
        environ: The environment, which speaks where the options are silent.
        facts: A watched run; then ``options.runs`` says how often it is repeated.

    Raises:
        OptionError: The plan says too little, or contradicts itself, or names what no table holds.
        InputError: A file of rates or sites cannot be used.
    """
    options = with_environment(options, environ)
    if facts is not None and options.device is None and facts.device:
        options = replace(options, device=facts.device)
    book = load_book(options.rates)
    chosen = choose(options, book, environ)
    gpus, gpu_hours, subject = size(options, facts)
    core_hours = 0.0
    if facts is not None and gpus == 0:
        chosen = without_device(chosen, options, book)
        core_hours = facts.cores * seconds_of(options, facts) / S_PER_HOUR * options.runs
    energy = plan_energy(chosen, gpu_hours, times_of(options, facts), facts)
    if gpus:
        money = rent(chosen, gpu_hours)
        units = site_units(chosen, options, gpu_hours, gpus)
    else:
        money = rent_of_cores(chosen, core_hours)
        units = core_units(chosen, options, core_hours)
    published: tuple[PublishedFigure, ...] = ()
    if options.flops is not None and options.flops_per_second is not None and options.runs == 1:
        published = beside(options.flops, options.flops_per_second, energy, money, chosen.pue.value)
    return CostReport(
        stepscope_version=__version__,
        subject=subject,
        device=chosen.device,
        site="" if chosen.site is None else chosen.site.site.name,
        gpu_hours=gpu_hours,
        gpu_years=gpu_hours / YEAR_HOURS,
        core_hours=core_hours,
        run_seconds=run_seconds(options, facts, gpus, gpu_hours),
        waste=waste(money, options, facts),
        money=money,
        units=units,
        units_waste=waste(units, options, facts),
        electricity=electricity(chosen, energy),
        energy=energy,
        carbon=carbon_of(chosen, energy),
        published=published,
        rates=chosen.used() + unit_rate(chosen, options, gpus),
        notes=notes(options, chosen),
    )


def size(options: CostOptions, facts: RunFacts | None) -> tuple[int, float, str]:
    """Devices in a run, device hours of all runs, and the plan in words.

    Raises:
        OptionError: Nothing says how long a run takes.
    """
    times = f", {options.runs:,} runs" if options.runs > 1 else ""
    if options.flops is not None and options.flops_per_second is not None:
        gpus = options.gpus or 1
        hours = options.flops / options.flops_per_second / S_PER_HOUR
        words = (
            f"{options.flops:.3g} floating-point operations at "
            f"{options.flops_per_second / 1e12:g} TFLOP/s on each device{times}"
        )
        return gpus, hours * options.runs, words
    if facts is not None:
        gpus = facts.gpus if options.gpus is None else options.gpus
        seconds = seconds_of(options, facts)
        cores = f"{facts.cores:g} core(s)" if facts.cores else "no device"
        devices = f"{gpus} device(s)" if gpus else cores
        words = f"{facts.source}: {devices} for {seconds:,.0f} s{times}"
        return gpus, gpus * seconds / S_PER_HOUR * options.runs, words
    if options.hours is None:
        raise OptionError(
            "say how long: --hours with --gpus, or --flops with --flops-per-second, or a run folder"
        )
    gpus = options.gpus or 1
    words = f"{gpus} device(s) for {options.hours:g} h{times}"
    return gpus, gpus * options.hours * options.runs, words


def run_seconds(options: CostOptions, facts: RunFacts | None, gpus: int, gpu_hours: float) -> float:
    """How long one run takes."""
    if facts is not None:
        return seconds_of(options, facts)
    return gpu_hours * S_PER_HOUR / gpus / options.runs


def seconds_of(options: CostOptions, facts: RunFacts) -> float:
    """How long one run takes: as stated, else as it was seen."""
    return facts.seconds if options.hours is None else options.hours * S_PER_HOUR


def times_of(options: CostOptions, facts: RunFacts | None) -> float:
    """How many times a run's energy the plan takes; longer runs and more devices take as much more."""
    times = float(options.runs)
    if facts is not None and options.hours is not None and facts.seconds > 0:
        times *= options.hours * S_PER_HOUR / facts.seconds
    if facts is not None and options.gpus is not None and facts.gpus > 0:
        times *= options.gpus / facts.gpus
    return times


def unit_rate(chosen: Chosen, options: CostOptions, gpus: int) -> tuple[RateUsed, ...]:
    """The site's price in its own units, as a rate."""
    if chosen.site is None:
        return ()
    site, partition, cores = chosen.site.site, chosen.partition, None
    if gpus == 0:
        partition, cores = None, site.core_partition(options.partition)
    if partition is not None:
        name, price, hour = partition.name, partition.units_per_gpu_hour, "GPU-hour"
    elif cores is not None:
        name, price, hour = cores.name, cores.units_per_core_hour, "core-hour"
    else:
        return ()
    return (
        RateUsed(
            kind="units",
            key=name,
            value=price,
            low=price,
            high=price,
            unit=f"{site.unit} per {hour}",
            date=site.date,
            source=site.source,
            checked=True,
            origin="site",
        ),
    )


def notes(options: CostOptions, chosen: Chosen) -> tuple[str, ...]:
    """What a reader must know about this plan."""
    said = []
    if options.device and not chosen.device:
        said.append(
            f"No table knows a device named {options.device!r}: state --price and --watts, or add it "
            "to a file of rates."
        )
    if chosen.site is not None and chosen.partition is not None:
        said.append(f"{chosen.site.site.name}: {chosen.site.site.charging}")
    if any(not rate.checked for rate in chosen.used()):
        said.append(
            "Rates marked 'unchecked' are general knowledge that nobody has read again: check them "
            "before you quote a figure."
        )
    return tuple(said)
