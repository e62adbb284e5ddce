"""Money of a plan: rent, the wasted part of it, the site's units, and electricity as its own line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.cost.sites import charged_gpus
from stepscope.cost.span import Span, known, not_known, of_estimate, of_rate
from stepscope.units import J_PER_KWH, format_core_hours, format_frac, format_hours

if TYPE_CHECKING:
    from stepscope.cost.chosen import Chosen
    from stepscope.cost.facts import RunFacts
    from stepscope.cost.options import CostOptions
    from stepscope.schema.cost import EnergyCost, Estimate, RateUsed


def in_currency(span: Span, rate: RateUsed, chosen: Chosen) -> tuple[Span, str]:
    """An amount in the rate's currency, told in the plan's, and what to say about the exchange."""
    currency = rate.unit[:3]
    if currency == chosen.currency:
        return span, ""
    exchange = of_rate(chosen.exchange)
    said = f", exchanged at {exchange.value:g} USD per EUR"
    if chosen.currency == "USD":
        return span * exchange, said
    return span.over(exchange), said


def rent(chosen: Chosen, gpu_hours: float) -> Estimate:
    """Device hours times their price."""
    if chosen.price is None:
        why = "no price of a device hour is known; use --device, --price or a file of rates"
        return not_known(chosen.currency, why)
    span, said = in_currency(of_rate(chosen.price).scaled(gpu_hours), chosen.price, chosen)
    how = f"{format_hours(gpu_hours)} at {chosen.price.value:g} {chosen.price.unit}{said}"
    if chosen.price.origin == "built-in":
        how += "; a typical price on demand, which is not what a computing centre charges"
    return known(span, chosen.currency, "modelled", how)


def rent_of_cores(chosen: Chosen, core_hours: float) -> Estimate:
    """Core hours times their price, for runs without a device."""
    if not core_hours or chosen.price is None:
        return not_known(chosen.currency, "the run had no device, and nothing says how many cores")
    span, said = in_currency(of_rate(chosen.price).scaled(core_hours), chosen.price, chosen)
    how = f"{format_core_hours(core_hours)} at {chosen.price.value:g} {chosen.price.unit}{said}"
    if chosen.price.origin == "built-in":
        how += "; ask your computing centre for its own tariff"
    return known(span, chosen.currency, "modelled", how)


def waste(money: Estimate, options: CostOptions, facts: RunFacts | None) -> Estimate:
    """The part of the rent that is paid for idle devices, or idle cores of a run without any."""
    measured = None if facts is None else facts.idle_frac
    idle = options.idle if options.idle is not None else measured
    span = of_estimate(money)
    if span is None:
        return not_known(money.unit, money.how)
    if idle is None:
        why = "no idle share is known; watch a run, or state --idle"
        return not_known(money.unit, why)
    word = "stated" if options.idle is not None else "measured"
    of = facts.idle_of if facts is not None and options.idle is None else "allocated time"
    what = "cores" if facts is not None and facts.gpus == 0 else "devices"
    how = f"{format_frac(idle)} of the {of} the {what} were idle ({word})"
    return known(span.scaled(idle), money.unit, "modelled", how)


def site_units(chosen: Chosen, options: CostOptions, gpu_hours: float, gpus: int) -> Estimate:
    """What the site charges, in its own units."""
    if chosen.site is None:
        return not_known("", "no site was stated; use --site")
    site = chosen.site.site
    if chosen.partition is None:
        names = ", ".join(f"{part.name} ({part.device})" for part in site.partitions)
        return not_known(site.unit, f"state --partition or --device; {site.name} has {names}")
    charged = charged_gpus(chosen.partition, gpus, options.cores, options.memory_gib)
    hours = gpu_hours * charged / gpus
    price = chosen.partition.units_per_gpu_hour
    more = (
        f"; {charged} devices are charged for {gpus}, because the cores or the memory asked for "
        "are more than their share"
        if charged > gpus
        else ""
    )
    how = (
        f"{format_hours(hours)} at {price:g} {site.unit} on {chosen.partition.name} "
        f"({site.source}, {site.date}){more}"
    )
    total = hours * price
    return known(Span(total, total, total), site.unit, "modelled", how)


def core_units(chosen: Chosen, options: CostOptions, core_hours: float) -> Estimate:
    """What the site charges for cores, in its own units, for runs without a device."""
    if chosen.site is None:
        return not_known("", "no site was stated; use --site")
    site = chosen.site.site
    partition = site.core_partition(options.partition)
    if partition is None or not core_hours:
        why = f"what {site.name} charges for cores alone is not in its description"
        return not_known(site.unit, why if core_hours else "nothing says how many cores")
    how = (
        f"{format_core_hours(core_hours)} at {partition.units_per_core_hour:g} {site.unit} on "
        f"{partition.name} ({site.source}, {site.date})"
    )
    total = core_hours * partition.units_per_core_hour
    return known(Span(total, total, total), site.unit, "modelled", how)


def electricity(chosen: Chosen, energy: EnergyCost) -> Estimate:
    """Money for the energy, the building's part included."""
    if chosen.electricity is None:
        return not_known(
            chosen.currency, "no price of electricity is known for that country; use --electricity"
        )
    span = of_estimate(energy.total)
    if span is None:
        return not_known(chosen.currency, "the energy is not known")
    amount = (span * of_rate(chosen.electricity)).scaled(1 / J_PER_KWH)
    amount, said = in_currency(amount, chosen.electricity, chosen)
    how = (
        f"at {chosen.electricity.value:g} {chosen.electricity.unit} "
        f"({chosen.electricity.key or 'stated'}){said}; a part of what a rent pays for"
    )
    return known(amount, chosen.currency, "modelled", how)
