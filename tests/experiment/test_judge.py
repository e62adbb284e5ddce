"""When a difference between trials is certain, and when losses go the same way."""

from __future__ import annotations

import math

import pytest

from stepscope.experiment.judge import are_alike, ratio_of

FAST = (50.0, 51.0, 49.5, 50.5)
SLOW = (100.0, 101.0, 99.0, 100.5)


def test_a_clear_gain_is_certain():
    ratio = ratio_of(SLOW, FAST)
    assert ratio.gain == pytest.approx(2, rel=0.01)
    assert ratio.low is not None
    assert ratio.high is not None
    assert 1.9 < ratio.low < ratio.gain < ratio.high < 2.1
    assert ratio.is_certain
    assert not ratio.is_nothing


def test_a_clear_loss_is_certain_too():
    ratio = ratio_of(FAST, SLOW)
    assert ratio.is_certain
    assert ratio.gain < 1


def test_no_gain_worth_a_change_is_a_result():
    ratio = ratio_of((100.0, 101.0, 99.0, 100.0), (100.0, 100.5, 99.5, 100.0))
    assert not ratio.is_certain
    assert ratio.is_nothing


def test_scattered_trials_settle_nothing():
    ratio = ratio_of((100.0, 80.0, 120.0), (70.0, 110.0, 75.0))
    assert not ratio.is_certain
    assert not ratio.is_nothing


def test_pairs_on_a_machine_that_slows_down_still_settle_it():
    drifting = tuple(100.0 * 2**n for n in range(4))
    ratio = ratio_of(drifting, tuple(one / 1.5 for one in drifting))
    assert ratio.is_certain
    assert ratio.gain == pytest.approx(1.5)


def test_one_pair_has_no_interval():
    ratio = ratio_of((3.0,), (2.0,))
    assert ratio.gain == pytest.approx(1.5)
    assert (ratio.low, ratio.high) == (None, None)
    assert not ratio.is_certain
    assert not ratio.is_nothing


@pytest.mark.parametrize(
    ("without", "with_change", "alike"),
    [
        ([], [1.0], None),
        ([2.0, 1.0, 1.0, 1.0], [9.0, 9.0, 1.04, 1.04], True),
        ([2.0, 1.0, 1.0, 1.0], [2.0, 1.0, 1.06, 1.06], False),
        ([1.0, 1.0, 0.5, 1.5], [1.0, 1.0, 1.3, 1.3], True),
        ([1.0, 1.0], [1.0, math.nan], False),
        ([1.0, math.inf], [1.0, 1.0], True),
    ],
)
def test_losses_are_alike_within_their_scatter(without, with_change, alike):
    assert are_alike(without, with_change) is alike
