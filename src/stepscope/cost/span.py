"""A figure with its range, and the arithmetic that keeps the range true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.schema.cost import Estimate

if TYPE_CHECKING:
    from stepscope.schema.cost import Basis, RateUsed


class Span(Struct, frozen=True):
    """A value and its range, all at least 0.

    Sums and products are taken end by end, as if everything were low, or high, at once. So the range is
    the widest that the inputs allow, not a likely one.
    """

    value: float
    low: float
    high: float

    def __add__(self, other: Span) -> Span:
        """The sum, end by end."""
        return Span(self.value + other.value, self.low + other.low, self.high + other.high)

    def __mul__(self, other: Span) -> Span:
        """The product, end by end."""
        return Span(self.value * other.value, self.low * other.low, self.high * other.high)

    def over(self, other: Span) -> Span:
        """The quotient: the low end takes the divisor's high end."""
        return Span(self.value / other.value, self.low / other.high, self.high / other.low)

    def less_one(self) -> Span:
        """One less, for the part that a ratio adds; never below 0."""
        return Span(max(self.value - 1, 0), max(self.low - 1, 0), max(self.high - 1, 0))

    def scaled(self, factor: float) -> Span:
        """Times a number that is known exactly."""
        return Span(self.value * factor, self.low * factor, self.high * factor)


def point(value: float) -> Span:
    """A figure that is taken as exact."""
    return Span(value, value, value)


def of_rate(rate: RateUsed) -> Span:
    """A rate with its range."""
    return Span(rate.value, rate.low, rate.high)


def of_estimate(estimate: Estimate) -> Span | None:
    """An estimate's figure; ``None`` when it is not known."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    return Span(estimate.value, estimate.low, estimate.high)


def known(span: Span, unit: str, basis: Basis, how: str) -> Estimate:
    """An estimate that is known."""
    return Estimate(value=span.value, low=span.low, high=span.high, unit=unit, basis=basis, how=how)


def not_known(unit: str, why: str) -> Estimate:
    """An estimate that is not known, with the reason."""
    return Estimate(value=None, low=None, high=None, unit=unit, basis="not-known", how=why)
