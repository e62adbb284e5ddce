"""A plan's cost as plain text for terminals and job logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.units import (
    format_core_hours,
    format_energy,
    format_hours,
    format_mass,
    format_money,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.schema.cost import CostReport, Estimate, PublishedFigure, RateUsed

WIDTH = 13


def render(report: CostReport) -> str:
    """The whole report, one figure a line with its range, its basis and its arithmetic below."""
    hours = format_hours(report.gpu_hours)
    if report.core_hours:
        hours = format_core_hours(report.core_hours)
    head = f"{report.subject} = {hours}"
    if report.gpu_years >= 1:
        head += f" ({report.gpu_years:,.1f} GPU-years of 8,760 h)"
    what = " · ".join(word for word in (report.device, report.site) if word)
    lines = [head, *([what] if what else []), ""]
    lines += figure("Wasted", report.waste, money_in(report.waste.unit))
    lines += figure("Money", report.money, money_in(report.money.unit))
    if report.site:
        wasted = report.units_waste
        if wasted is not None and wasted.value is not None:
            lines += figure("Wasted units", wasted, money_in(wasted.unit))
        lines += figure("Site units", report.units, money_in(report.units.unit))
    lines += figure("Energy", report.energy.total, format_energy)
    lines += figure("  devices", report.energy.devices, format_energy)
    lines += figure("  host", report.energy.host, format_energy)
    lines += figure("  building", report.energy.building, format_energy)
    lines += figure("Electricity", report.electricity, money_in(report.electricity.unit))
    lines += figure("Carbon", report.carbon, carbon)
    if report.published:
        lines += ["", "Published estimates of the same work, beside this one"]
        for row in report.published:
            lines += published_lines(row)
    lines += ["", "Rates"]
    for rate in report.rates:
        lines += rate_lines(rate)
    lines += [""] if report.notes else []
    lines += [f"Note: {note}" for note in report.notes]
    return "\n".join(lines) + "\n"


def money_in(unit: str) -> Callable[[float], str]:
    """A formatter of amounts in that currency or unit."""
    return lambda amount: format_money(amount, unit)


def carbon(grams: float) -> str:
    """Greenhouse gas in words."""
    return f"{format_mass(grams)} CO2e"


def figure(name: str, estimate: Estimate, tell: Callable[[float], str]) -> list[str]:
    """A figure's line, and its arithmetic in the next."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return [f"{name:<{WIDTH}}not known: {estimate.how}"]
    ends = ""
    if estimate.low < estimate.high:
        ends = f"  ({tell(estimate.low)} to {tell(estimate.high)})"
    return [
        f"{name:<{WIDTH}}{tell(estimate.value)}{ends}  [{estimate.basis}]",
        f"{'':<{WIDTH}}{estimate.how}",
    ]


def published_lines(row: PublishedFigure) -> list[str]:
    """A published figure beside ours."""
    tell = money_in(row.unit) if row.quantity == "money" else (lambda value: plain(value, row.unit))
    ours = "not known" if row.ours is None else tell(row.ours)
    return [
        f"  {row.work}, {row.quantity}: published {tell(row.published)}, here {ours}",
        f"    {row.source}",
        f"    {row.why}",
    ]


def plain(value: float, unit: str) -> str:
    """A number with at most one decimal."""
    return f"{value:,.0f} {unit}" if value >= 1000 or value == int(value) else f"{value:.1f} {unit}"


def rate_lines(rate: RateUsed) -> list[str]:
    """A rate with its range, source, date and origin."""
    ends = f" ({rate.low:g} to {rate.high:g})" if rate.low < rate.high else ""
    name = " ".join(word for word in (rate.kind, rate.key) if word)
    mark = "" if rate.checked else ", unchecked"
    date = f", {rate.date}" if rate.date else ""
    return [
        f"  {name}: {rate.value:g} {rate.unit}{ends}  [{rate.origin}{mark}]",
        f"    {rate.source}{date}",
    ]
