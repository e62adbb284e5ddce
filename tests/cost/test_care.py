"""The level of care that a plan deserves."""

import pytest

from stepscope.cost.care import care_for
from stepscope.cost.options import CostOptions
from stepscope.cost.plan import price_plan


@pytest.fixture(autouse=True)
def no_slurm(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _name: None)


def care(**stated):
    options = CostOptions(**stated)
    return care_for(options, price_plan(options, {}))


def test_small_plans_are_looked_at_and_large_ones_improved():
    assert care(gpus=1, hours=1, device="H100").level == "look"
    assert care(gpus=4, hours=24, device="H100").level == "profile"
    assert care(gpus=64, hours=100, runs=10, device="H100").level == "improve"


def test_the_arithmetic_by_hand():
    """10 h at 6 EUR are 60 EUR; a profile costs 15 EUR and 0.1 h, that is 15.60 EUR or 26 %."""
    plan = care(gpus=1, hours=10, device="H100", price=6.0, currency="EUR")
    assert plan.money == pytest.approx(60)
    assert plan.profile_pays_frac == pytest.approx(0.26)
    assert plan.improve_pays_frac == pytest.approx((240 + 6) / 60)
    assert plan.level == "look"
    assert "pays when it makes the plan 26 % faster" in plan.how


def test_a_person_s_hour_is_exchanged():
    euros = care(gpus=1, hours=10, price=6.0, currency="EUR")
    dollars = care(gpus=1, hours=10, price=6.0, currency="USD")
    assert dollars.profile_pays_frac == pytest.approx(
        (euros.profile_pays_frac * 60 - 0.6) * 1.08 / 60 + 0.01
    )


def test_without_a_price_there_is_still_an_answer_that_says_so():
    plan = care(gpus=8, hours=100)
    assert plan.money is None
    assert plan.level == "profile"
    assert "no price is known" in plan.how


def test_a_plan_of_no_time_needs_no_care():
    plan = care(gpus=1, hours=0, device="H100")
    assert plan.level == "look"
    assert "never" in plan.how
