"""Energy and money of a step in two reports: never two figures that were made by different means."""

import io
import json

import pytest
from msgspec.structs import replace

from stepscope.report.compare import compare
from stepscope.report.compare_spent import spent_of
from stepscope.report.compare_text import print_comparison
from stepscope.report.compare_words import to_json
from stepscope.schema.cost import Estimate
from tests.known import known
from tests.report import examples


def joules(value, *, basis="measured", error=0.1):
    if value is None:
        return Estimate(
            value=None, low=None, high=None, unit="J", basis="not-known", how="no meter"
        )
    return Estimate(
        value=value, low=value - error, high=value + error, unit="J", basis=basis, how="its counter"
    )


def report(step=100.0, sample=2.0, *, scope="devices", seconds=3600.0, price=3.0, **made):
    """A watched report with these energies and, for its run, this price of an hour of one device."""
    base = examples.watched()
    energy = replace(
        known(base.use).energy,
        per_step=joules(step, **made), per_sample=joules(sample, **made), scope=scope,
    )  # fmt: skip
    cost = known(base.cost)
    rates = tuple(
        replace(rate, value=price) if rate.kind == "price" else rate for rate in cost.run.rates
    )
    assert any(rate.kind == "price" for rate in rates)
    amount = price * seconds / 3600
    money = replace(cost.run.money, value=amount, low=amount, high=amount)
    run = replace(cost.run, run_seconds=seconds, money=money, rates=rates)
    return replace(base, use=replace(known(base.use), energy=energy), cost=replace(cost, run=run))


def told(one, other, mean_ms=(100.0, 50.0)):
    return {spent.quantity: spent for spent in spent_of(one, other, mean_ms)}


def shown(one, other):
    file = io.StringIO()
    comparison = compare(one, other)
    print_comparison(comparison, file=file, width=200)
    return comparison, " ".join(file.getvalue().split())


def test_both_measured_are_told_with_their_basis():
    spent = told(report(), report(step=75.0, sample=1.5))
    step = spent["energy-step"]
    assert (step.before, step.after, step.basis, step.of) == (100.0, 75.0, "measured", "devices")
    assert step.comparable
    assert step.doubt == ""
    money = spent["money-steps"]
    # An hour costs 3, so a step of 0.1 s a 12,000th of it, and a thousand steps a twelfth.
    assert (money.before, money.after) == (pytest.approx(1 / 12), pytest.approx(1 / 24))
    assert money.basis == "modelled"
    _, text = shown(report(), report(step=75.0, sample=1.5))
    assert "Energy a step: 100 J to 75.0 J, 25 % less (measured: devices)" in text
    assert "a sample: 2.00 J to 1.50 J, 25 % less" in text
    assert "Money 1,000 steps:" in text


def test_ranges_that_overlap_are_said():
    step = told(report(error=20.0), report(step=95.0, error=20.0))["energy-step"]
    assert step.comparable
    assert "ranges overlap" in step.doubt
    assert "5.0 % less" in shown(report(error=20.0), report(step=95.0, error=20.0))[1]


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ({}, {"basis": "attributed"}, "the first is measured, the second attributed"),
        ({}, {"scope": "devices and host"}, "the first is that of devices, the second that of devices and host"),
        ({"basis": "modelled"}, {"basis": "modelled"}, "both are modelled"),
    ],
)  # fmt: skip
def test_two_of_different_kinds_are_not_held_against_each_other(one, other, says):
    spent = told(report(**one), report(step=75.0, **other))["energy-step"]
    assert not spent.comparable
    assert spent.doubt.startswith(says)
    text = shown(report(**one), report(step=75.0, **other))[1]
    assert "100 J and 75.0 J, which are no two of a kind" in text
    assert "25 % less" not in text


@pytest.mark.parametrize(("one", "other"), [(None, 75.0), (100.0, None), (None, None)])
def test_what_one_of_them_does_not_know_is_not_told(one, other):
    assert "energy-step" not in told(report(step=one), report(step=other))


def test_other_prices_are_no_difference_of_the_runs():
    money = told(report(), report(price=2.0))["money-steps"]
    assert not money.comparable
    assert money.doubt.startswith("the first is at 3 ")
    assert "the second at 2 " in money.doubt


def test_without_steps_time_or_use_nothing_is_told():
    assert "money-steps" not in told(report(), report(), (0.0, 50.0))
    assert "money-steps" not in told(report(), report(seconds=0.0))
    plain = examples.input_bound()
    assert told(plain, report()) == {}
    assert told(report(), plain) == {}
    assert compare(plain, plain).spent == ()


def test_it_is_in_the_json():
    comparison, _ = shown(report(), report(step=75.0))
    document = json.loads(to_json(comparison))
    assert [one["quantity"] for one in document["spent"]] == [
        "energy-step",
        "energy-sample",
        "money-steps",
    ]
