"""Whether a difference is certain: a t interval over pairs of trials that ran one after the other.

Steps of one run are not independent, and a machine is not equally fast all the time. So a trial counts
as one value, its median or mean step, and is only held against the trial next to it.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_ROUNDS = 3
"""With two pairs an interval of 95 % is twelve standard errors wide on each side."""

PRECISE, ENOUGH_ROUNDS = 1.1, 6
"""A gain that is certainly there is measured on until the ends of its interval are no more than this apart, or so
many rounds are done: whoever measures it by hand shall find the same."""

LEAST_GAIN = 1.02
"""A smaller difference is not worth a change."""

T_95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)
"""Quantile 97.5 % of Student's t for 1, 2, ... degrees of freedom; 2.26 is used beyond."""

LOSS_FRAC = 0.05
"""Mean losses that differ by less are alike."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Step time without over with a change.

    Attributes:
        gain: Geometric mean over the pairs.
        low, high: 95 % interval; ``None`` below two pairs.
    """

    gain: float
    low: float | None
    high: float | None

    @property
    def is_certain(self) -> bool:
        """Whether the interval lies on one side of 1 and the gain is worth it, or a loss."""
        if self.low is None or self.high is None:
            return False
        return (self.low > 1 and self.gain >= LEAST_GAIN) or self.high < 1

    @property
    def is_precise(self) -> bool:
        """Whether the interval is narrow."""
        return self.low is not None and self.high is not None and self.high <= PRECISE * self.low

    @property
    def is_nothing(self) -> bool:
        """Whether a gain worth a change is certainly not there."""
        return self.high is not None and self.high < LEAST_GAIN


def ratio_of(without: Sequence[float], with_change: Sequence[float]) -> Ratio:
    """The ratio over pairs of trials, given the step of each; at least one pair."""
    logs = [math.log(a / b) for a, b in zip(without, with_change, strict=True)]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return Ratio(math.exp(mean), None, None)
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    half = T_95[min(len(logs) - 2, len(T_95) - 1)] * error
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half))


def are_alike(without: Sequence[float], with_change: Sequence[float]) -> bool | None:
    """Whether losses go the same way.

    They do when the means of the later half differ by less than a twentieth, or by less than they scatter.

    Returns:
        ``None`` when one side has no loss.
    """
    count = min(len(without), len(with_change))
    if not count:
        return None
    one, other = without[count // 2 : count], with_change[count // 2 : count]
    if not all(map(math.isfinite, [*one, *other])):
        return all(map(math.isfinite, other))
    before, after = statistics.fmean(one), statistics.fmean(other)
    scatter = statistics.stdev(one) if len(one) > 1 else 0.0
    allowed = max(LOSS_FRAC * abs(before), 2 * scatter / math.sqrt(len(one)))
    return abs(after - before) <= allowed
