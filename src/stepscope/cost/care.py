"""How much care a plan deserves: what looking closer costs against what the plan costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.cost.chosen import must_find
from stepscope.cost.rates import load_book
from stepscope.schema.check_report import CarePlan
from stepscope.units import format_frac, format_hours, format_money

if TYPE_CHECKING:
    from stepscope.cost.options import CostOptions
    from stepscope.schema.check_report import Care
    from stepscope.schema.cost import CostReport

PROFILE_PERSON_HOURS = 0.25
"""A quarter of an hour to start ``stepscope profile`` and read its report."""
PROFILE_RUN_HOURS = 0.1
"""Device time of a profiled start: six minutes of one run."""
IMPROVE_PERSON_HOURS = 4.0
"""Half a day to try what the report suggests and to compare."""
IMPROVE_RUN_HOURS = 1.0
"""Device time of the short runs that ``tune`` and ``compare`` make."""
PROFILE_WORTH_FRAC = 0.10
"""A profile is worth it when a plan 10 % faster pays for it; most first profiles find more."""
IMPROVE_WORTH_FRAC = 0.05
"""Half a day is worth it when a plan 5 % faster pays for it."""


def care_for(options: CostOptions, priced: CostReport) -> CarePlan:
    """The level of care for a plan.

    The plan's devices and a person's time are both money; where no price is known a device hour counts
    as one fiftieth of a person's hour. ``profile`` pays when it makes the plan faster by
    (cost of the profile) / (cost of the plan).

    Args:
        options: The plan.
        priced: Its cost.
    """
    unit = priced.money.unit
    hour = hour_of_work(options, unit)
    runs_gpus = options.gpus or 1
    hours = priced.gpu_hours
    money = priced.money.value
    price = money / hours if money is not None and hours else hour / 50
    plan = price * hours
    profile = PROFILE_PERSON_HOURS * hour + PROFILE_RUN_HOURS * runs_gpus * price
    improve = IMPROVE_PERSON_HOURS * hour + IMPROVE_RUN_HOURS * runs_gpus * price
    profile_pays = profile / plan if plan else float("inf")
    improve_pays = improve / plan if plan else float("inf")
    level: Care = "look"
    if profile_pays <= PROFILE_WORTH_FRAC:
        level = "profile"
    if improve_pays <= IMPROVE_WORTH_FRAC:
        level = "improve"
    counted = (
        ""
        if money is not None
        else " (no price is known: a device hour counts as that of 1/50 person)"
    )
    words = (
        f"the plan is {format_hours(hours)}, {format_money(plan, unit)}{counted}; a profile costs "
        f"{PROFILE_PERSON_HOURS * 60:.0f} minutes of yours ({format_money(hour, unit)} an hour) and "
        f"{format_hours(PROFILE_RUN_HOURS * runs_gpus)}, {format_money(profile, unit)}, and pays when it makes "
        f"the plan {share(profile_pays)} faster; half a day of tuning costs {format_money(improve, unit)} and "
        f"pays from {share(improve_pays)}"
    )
    return CarePlan(
        level=level,
        gpu_hours=hours,
        money=money,
        currency=unit if money is not None else "",
        profile_pays_frac=profile_pays,
        improve_pays_frac=improve_pays,
        how=words,
    )


def hour_of_work(options: CostOptions, currency: str) -> float:
    """What an hour of a person costs, in that currency.

    Raises:
        OptionError: The tables do not say.
    """
    book = load_book(options.rates)
    person, exchange = must_find(book, "person", "hour"), must_find(book, "exchange", "EUR")
    if person.unit[:3] == currency:
        return person.value
    return person.value * exchange.value if currency == "USD" else person.value / exchange.value


def share(frac: float) -> str:
    """A share in words; what cannot be reached is said so."""
    return format_frac(frac) if frac < 1 else "more than 100 % (never)"
