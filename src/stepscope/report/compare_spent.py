"""What a step draws and costs, of two reports: told where both know it by the same means, and never mixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from stepscope.units import format_energy, format_frac, format_money

if TYPE_CHECKING:
    from stepscope.schema.cost import CostReport, Estimate, RateUsed
    from stepscope.schema.report import Report

Quantity = Literal["energy-step", "energy-sample", "money-steps"]
STEPS = 1000
"""Money is told of so many steps; that of one is too small to read."""


class Spent(Struct, frozen=True):
    """A quantity of both reports.

    Attributes:
        quantity: Joules a step, joules a sample, or money for 1,000 steps.
        unit: ``J`` or a currency.
        before, after: The figures.
        basis: How both were made: ``measured``, ``attributed`` or ``modelled``; ``""`` where they differ.
        of: Whose energy it is, or the price behind the money.
        doubt: Why they cannot be held against each other, or why the difference is not certain; ``""`` for none.
        comparable: Whether they can.
    """

    quantity: Quantity
    unit: str
    before: float
    after: float
    basis: str
    of: str
    doubt: str
    comparable: bool


def spent_of(before: Report, after: Report, mean_ms: tuple[float, float]) -> tuple[Spent, ...]:
    """What both reports tell of; empty where one of them knows nothing.

    Args:
        before, after: The reports.
        mean_ms: Their mean steps; 0 where steps could not be told apart.
    """
    found = [*_energies(before, after), _money(before, after, mean_ms)]
    return tuple(one for one in found if one is not None)


def _energies(before: Report, after: Report) -> list[Spent | None]:
    if before.use is None or after.use is None:
        return []
    one, other = before.use.energy, after.use.energy
    scopes = one.scope, other.scope
    return [
        _energy("energy-step", one.per_step, other.per_step, scopes),
        _energy("energy-sample", one.per_sample, other.per_sample, scopes),
    ]


def _energy(
    quantity: Quantity, one: Estimate, other: Estimate, scopes: tuple[str, str]
) -> Spent | None:
    """Energy of both; ``None`` where one is not known."""
    if one.value is None or other.value is None:
        return None
    is_same = one.basis == other.basis
    doubt = ""
    if scopes[0] != scopes[1]:
        doubt = f"the first is that of {scopes[0]}, the second that of {scopes[1]}"
    elif not is_same:
        doubt = f"the first is {one.basis}, the second {other.basis}"
    elif one.basis == "modelled":
        doubt = "both are modelled from the time that was taken, which says nothing new"
    comparable = not doubt
    if comparable and _overlap(one, other):
        doubt = "their ranges overlap, so the difference is not certain"
    return Spent(
        quantity=quantity,
        unit=one.unit,
        before=one.value,
        after=other.value,
        basis=one.basis if is_same else "",
        of=scopes[0] if scopes[0] == scopes[1] else "",
        doubt=doubt,
        comparable=comparable,
    )


def _overlap(one: Estimate, other: Estimate) -> bool:
    ends = one.low, one.high, other.low, other.high
    low, high, other_low, other_high = (0.0 if end is None else end for end in ends)
    return low <= other_high and other_low <= high


def _money(before: Report, after: Report, mean_ms: tuple[float, float]) -> Spent | None:
    """Money for steps: the price of what a run holds, times the mean step; ``None`` where one has no price."""
    if before.cost is None or after.cost is None or not min(mean_ms) > 0:
        return None
    runs = before.cost.run, after.cost.run
    rates = [_rate_a_second(run) for run in runs]
    prices = [_price(run) for run in runs]
    if rates[0] is None or rates[1] is None or prices[0] is None or prices[1] is None:
        return None
    if runs[0].money.unit != runs[1].money.unit:
        return None
    figures = [
        rate * ms / 1e3 * STEPS for rate, ms in zip((rates[0], rates[1]), mean_ms, strict=True)
    ]
    is_same = (prices[0].value, prices[0].unit) == (prices[1].value, prices[1].unit)
    of = f"{prices[0].value:g} {prices[0].unit} x the mean step"
    other = f"{prices[1].value:g} {prices[1].unit}"
    return Spent(
        quantity="money-steps",
        unit=runs[0].money.unit,
        before=figures[0],
        after=figures[1],
        basis="modelled",
        of=of if is_same else "",
        doubt=""
        if is_same
        else f"the first is at {prices[0].value:g} {prices[0].unit}, the second at {other}",
        comparable=is_same,
    )


def _rate_a_second(run: CostReport) -> float | None:
    """What a second of a run costs."""
    if run.money.value is None or run.run_seconds <= 0:
        return None
    return run.money.value / run.run_seconds


def _price(run: CostReport) -> RateUsed | None:
    return next((rate for rate in run.rates if rate.kind in {"price", "core"}), None)


WORDS: dict[Quantity, tuple[str, str]] = {
    "energy-step": ("Energy", "a step"),
    "energy-sample": ("", "a sample"),
    "money-steps": ("Money", f"{STEPS:,} steps"),
}


def label_of(spent: Spent) -> str:
    """The label before its sentence."""
    return WORDS[spent.quantity][0]


def spent_sentence(spent: Spent) -> str:
    """Both figures with the difference, its basis and what speaks against it."""
    first, second = (
        format_energy(value) if spent.unit == "J" else format_money(value, spent.unit)
        for value in (spent.before, spent.after)
    )
    of = WORDS[spent.quantity][1]
    if not spent.comparable:
        return f"{of}: {first} and {second}, which are no two of a kind: {spent.doubt}"
    change = spent.after / spent.before - 1 if spent.before > 0 else 0.0
    word = (
        "the same"
        if abs(change) < 0.005
        else f"{format_frac(abs(change))} {'more' if change > 0 else 'less'}"
    )
    doubt = f"; {spent.doubt}" if spent.doubt else ""
    return f"{of}: {first} to {second}, {word} ({spent.basis}: {spent.of}){doubt}"
