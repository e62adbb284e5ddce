"""Steady growth, told from everything that only looks like it."""

import random

import pytest

from stepscope.watch.growth import steady_growth

MB = 1e6


def series(function, seconds=600, step=2):
    return [(float(at), float(function(at))) for at in range(0, seconds, step)]


def test_a_leak_of_twenty_megabytes_a_second():
    assert steady_growth(series(lambda at: 2e9 + 20 * MB * at)) == pytest.approx(20 * MB, rel=0.01)


def test_a_leak_under_ups_and_downs():
    noise = random.Random(1)
    found = steady_growth(
        series(lambda at: 2e9 + MB * at + (at % 50) * 4 * MB + noise.random() * 30 * MB)
    )
    assert found == pytest.approx(MB, rel=0.25)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("flat", lambda at: 2e9),
        ("a start that fills caches", lambda at: 2e9 + 1e9 * min(at / 100, 1)),
        ("saw teeth", lambda at: 2e9 + (at % 100) * 20 * MB),
        ("a step at an epoch's end", lambda at: 2e9 + (5e8 if at > 400 else 0)),
        ("growth that ends", lambda at: 2e9 + 1e9 * min(at / 300, 1)),
        ("shrinking", lambda at: 9e9 - 5 * MB * at),
        ("too little to matter", lambda at: 2e9 + 0.08 * MB * at),
        ("little of much", lambda at: 100e9 + 3 * MB * at),
    ],
)
def test_no_leak(name, function):
    assert steady_growth(series(function)) is None, name


def test_too_few_points_are_not_judged():
    assert steady_growth(series(lambda at: 2e9 + 20 * MB * at, seconds=50)) is None
    assert steady_growth([]) is None
    assert steady_growth([(1.0, 5.0)] * 50) is None
