"""Words for what a run, a plan and a finding's waste cost, shared by terminal and page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.units import format_energy, format_mass, format_money

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.schema.cost import CostReport, Estimate, FindingWaste, RunCost
    from stepscope.schema.report import Finding, Report


def cost_sentence(cost: RunCost) -> str:
    """The run and the plan in one line, the waste before the total."""
    said = [f"{_subject(cost.run)}: {_short(cost.run)}"]
    if cost.plan is not None:
        said.append(f"{_subject(cost.plan)}: {_short(cost.plan)}")
    return "; ".join(said)


def is_priced(one: CostReport) -> bool:
    """Whether money or the site's units are known."""
    return one.money.value is not None or one.units.value is not None


def _short(one: CostReport) -> str:
    """Waste and total, in money, else in the site's units, else why not."""
    money, units = one.money, one.units
    if money.value is not None:
        text = format_money(money.value, money.unit)
        if one.waste.value is not None:
            text = f"wasted {format_money(one.waste.value, money.unit)} of {text}"
        return text + (f" ({_units(units)})" if units.value is not None else "")
    return _units(units) if units.value is not None else f"not known ({money.how})"


def _units(units: Estimate) -> str:
    """An amount of the site's units."""
    return format_money(units.value or 0.0, units.unit)


def _subject(one: CostReport) -> str:
    """The plan in words, without the folder that it was read from."""
    return one.subject.rpartition(": ")[2]


def waste_of(report: Report, finding: Finding) -> FindingWaste | None:
    """A finding's waste in money; ``None`` where none is known."""
    if report.cost is None:
        return None
    for waste in report.cost.findings:
        if (waste.code, waste.rank) == (finding.code, finding.rank):
            return waste if waste.run.value is not None else None
    return None


def waste_sentence(waste: FindingWaste) -> str:
    """What the idle time behind a finding costs, with its range."""
    if waste.plan is None or waste.plan.value is None or waste.run.value is None:
        return f"idle for it: {_ranged(waste.run)} of what this run costs"
    run = format_money(waste.run.value, waste.run.unit)
    return f"idle for it: {run} of what this run costs, {_ranged(waste.plan)} of the plan"


def _ranged(estimate: Estimate) -> str:
    """An amount and its range."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "not known"
    text = format_money(estimate.value, estimate.unit)
    if estimate.low < estimate.high:
        low = format_money(estimate.low, estimate.unit)
        text += f" ({low} to {format_money(estimate.high, estimate.unit)})"
    return text


class CostRow(Struct, frozen=True):
    """A line of the table of costs.

    Attributes:
        name: What it is.
        value, ends: The figure and its range in words.
        basis, how: How it is known.
    """

    name: str
    value: str
    ends: str
    basis: str
    how: str


def cost_rows(one: CostReport) -> tuple[CostRow, ...]:
    """Everything that a run or a plan costs, the waste first; what is not known with the reason."""
    rows = [
        _row("Wasted", one.waste, _money(one.waste)),
        _row("Money", one.money, _money(one.money)),
    ]
    if one.site:
        rows.append(_row("Site units", one.units, _money(one.units)))
    return (
        *rows,
        _row("Energy", one.energy.total, format_energy),
        _row(
            "Electricity, a part of what a rent pays for", one.electricity, _money(one.electricity)
        ),
        _row("Carbon", one.carbon, lambda grams: f"{format_mass(grams)} CO2e"),
    )


def _money(estimate: Estimate) -> Callable[[float], str]:
    """A formatter of amounts in the estimate's unit."""
    return lambda amount: format_money(amount, estimate.unit)


def _row(name: str, estimate: Estimate, tell: Callable[[float], str]) -> CostRow:
    if estimate.value is None:
        return CostRow(name, "not known", "", "not known", estimate.how)
    ends = ""
    if estimate.low is not None and estimate.high is not None and estimate.low < estimate.high:
        ends = f"{tell(estimate.low)} to {tell(estimate.high)}"
    return CostRow(name, tell(estimate.value), ends, estimate.basis, estimate.how)
