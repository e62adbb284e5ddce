"""Something that adds up over time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.watch.curve import Curve, added, of_counter, of_means, of_rate

POINTS = st.lists(
    st.tuples(st.floats(0, 1e4), st.floats(0, 1e6)),
    min_size=2,
    max_size=30,
    unique_by=lambda p: p[0],
).map(sorted)
MOMENTS = st.floats(-100, 2e4)


@given(POINTS, MOMENTS, MOMENTS, MOMENTS)
def test_stretches_add_up_and_never_fall(points, one, two, three):
    curve = of_rate(points)
    first, second, third = sorted((one, two, three))
    whole = curve.between(first, third)
    assert whole >= 0
    parts = curve.between(first, second) + curve.between(second, third)
    assert parts == pytest.approx(whole, abs=1e-6 * max(curve.total, 1))
    assert curve.between(-1e9, 1e9) == pytest.approx(curve.total)


def test_on_the_line_between_two_moments():
    curve = of_counter([(0.0, 100.0), (10.0, 300.0)])
    assert curve.at(5.0) == 100.0
    assert curve.between(2.5, 7.5) == 100.0
    assert curve.covered(-5.0, 3.0) == 3.0
    assert curve.rate([(0.0, 1.0), (9.0, 20.0)]) == pytest.approx(20.0)


def test_what_is_not_covered_is_not_known():
    assert of_counter([(0.0, 1.0), (1.0, 2.0)]).rate([(5.0, 6.0)]) is None
    assert Curve((), ()).rate([(0.0, 1.0)]) is None
    assert Curve((), ()).total == 0.0
    assert of_counter([(3.0, 7.0)]).rate([(0.0, 9.0)]) is None


def test_a_counter_that_falls_counts_from_nothing():
    assert of_counter([(0.0, 90.0), (1.0, 100.0), (2.0, 5.0)]).total == 15.0


def test_a_mean_stands_for_the_time_before_it():
    assert of_means([(0.0, 1.0), (2.0, 0.5), (3.0, 1.0)]).total == 2.0


def test_a_long_gap_counts_as_a_short_one():
    assert of_rate([(0.0, 2.0), (100.0, 2.0)], most_gap_s=30).total == 60.0


def test_a_moment_that_comes_twice_is_taken_once():
    for make in (of_counter, of_rate, of_means):
        assert make([(0.0, 1.0), (0.0, 5.0), (1.0, 1.0)]).times == (0.0, 1.0)


def test_a_sum_stands_still_where_one_has_ended():
    both = added([of_counter([(0.0, 0.0), (1.0, 10.0)]), of_counter([(1.0, 0.0), (3.0, 4.0)])])
    assert both.times == (0.0, 1.0, 3.0)
    assert both.totals == (0.0, 10.0, 14.0)
    assert both.shifted(5.0).at(6.0) == 10.0
