"""The arithmetic of ranges."""

from hypothesis import given
from hypothesis import strategies as st

from stepscope.cost.span import Span, known, not_known, of_estimate, point

POSITIVE = st.floats(0.001, 1e9)


@st.composite
def spans(draw):
    low, value, high = sorted(draw(st.lists(POSITIVE, min_size=3, max_size=3)))
    return Span(value, low, high)


@given(spans(), spans())
def test_results_hold_their_value_in_their_range(one, other):
    for result in (one + other, one * other, one.over(other), one.less_one(), one.scaled(2.5)):
        assert result.low <= result.value * (1 + 1e-12)
        assert result.value <= result.high * (1 + 1e-12)


@given(spans(), spans(), st.floats(0, 1), st.floats(0, 1))
def test_a_quotient_covers_every_quotient_of_members(one, other, where, there):
    top = one.low + where * (one.high - one.low)
    bottom = other.low + there * (other.high - other.low)
    quotient = one.over(other)
    assert quotient.low * (1 - 1e-9) <= top / bottom <= quotient.high * (1 + 1e-9)


def test_a_point_is_exact():
    assert point(3.0) == Span(3.0, 3.0, 3.0)


def test_an_estimate_gives_its_span_back():
    assert of_estimate(known(Span(2, 1, 3), "J", "measured", "so")) == Span(2, 1, 3)
    assert of_estimate(not_known("J", "no meter")) is None


def test_not_known_is_never_zero():
    estimate = not_known("J", "no meter")
    assert (estimate.value, estimate.basis, estimate.how) == (None, "not-known", "no meter")
