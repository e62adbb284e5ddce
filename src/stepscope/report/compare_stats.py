"""Whether two series of step times differ for real: an interval by bootstrap, with two cautions.

Steps of one run are not independent: a slow disk or a noisy neighbour lasts many steps. So whole blocks
of neighbouring steps are drawn, as long as their correlation asks for; a test on ranks that discounts
correlated steps must agree; and a difference that is no larger than the drift inside either run is not
believed, however narrow the interval.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Statistic: TypeAlias = Literal["medians", "means"]
Doubt: TypeAlias = Literal["few", "spread", "small", "correlation", "drift", ""]

LEAST_STEPS: Final = 8
"""With fewer steps on either side nothing is called certain."""
LEAST_EFFECT: Final = 0.01
"""A smaller difference of medians is not called one, whatever its interval."""
LEAST_SEPARATION: Final = 2.58
"""Standard deviations between the two series: one chance in a hundred when nothing changed."""
FAR: Final = 1.25
"""A step that is so many times longer or shorter than the median is far from it."""
LEAST_UNEVEN: Final = 0.2
"""Share of steps far from the median from which on means count."""
BUNCH: Final = 4
"""So many neighbouring steps share a bunch, and are drawn and ranked together where means count."""
DRAWS: Final = 2000
SEED: Final = 20_251
LEVEL: Final = 0.95
_CELLS: Final = 2_000_000
"""Numbers that are drawn at once, which bounds the memory."""


class Ratio(Struct, frozen=True):
    """Before over after: above 1 the second is faster.

    Attributes:
        median: Of the medians.
        mean: Of the means.
        by: What counts: ``medians``, or ``means`` where steps come in bunches, as they do with several
            loader workers: then one in two or more is fast because its batch was there, the next waits
            for both, and no median says what a run gets done.
        interval: 95 % interval of what counts; ``None`` where a side has fewer than three steps.
        drift_frac: The larger of the two differences between the halves of a run, as a share;
            ``None`` where a side has fewer than four steps.
        certain: Whether the difference is real as far as one run a side can tell.
        doubt: Why it is not certain: too few steps, a spread between steps as large as the difference,
            a small one, neighbouring steps that hang together too much, or a drift inside a run as
            large as the difference; empty when it is certain.
    """

    median: float
    mean: float
    by: Statistic
    interval: tuple[float, float] | None
    drift_frac: float | None
    certain: bool
    doubt: Doubt

    @property
    def headline(self) -> float:
        """The ratio that counts."""
        return self.mean if self.by == "means" else self.median


def compare_series(
    before: Sequence[float], after: Sequence[float], means: tuple[float, float] | None = None
) -> Ratio:
    """Hold two series of step times in milliseconds, none empty, all above 0, against each other.

    Args:
        before: Steps of the first.
        after: Steps of the second.
        means: Mean steps of both, where more is known of them than the series tell.
    """
    one, other = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    ratio = float(np.median(one) / np.median(other))
    first, second = means or (float(one.mean()), float(other.mean()))
    by: Statistic = "means" if is_uneven(one) or is_uneven(other) else "medians"
    counts = first / second if by == "means" else ratio
    interval = _interval(one, other, by)
    drifts = [drift for drift in (_drift(one, by), _drift(other, by)) if drift is not None]
    drift = max(drifts) if len(drifts) == 2 else None
    doubt = _doubt(counts, interval, drift, (one, other), by)
    return Ratio(ratio, first / second, by, interval, drift, not doubt, doubt)


def is_uneven(series: NDArray[np.float64]) -> bool:
    """Whether so many steps are far from the median that it does not stand for the run."""
    if len(series) < LEAST_STEPS:
        return False
    off = series / np.median(series)
    return float(np.mean((off > FAR) | (off < 1 / FAR))) >= LEAST_UNEVEN


def _doubt(
    ratio: float,
    interval: tuple[float, float] | None,
    drift: float | None,
    both: tuple[NDArray[np.float64], NDArray[np.float64]],
    by: Statistic,
) -> Doubt:
    """The first reason not to believe a difference."""
    if interval is None or drift is None or min(map(len, both)) < LEAST_STEPS:
        return "few"
    if interval[0] <= 1 <= interval[1]:
        return "spread"
    if abs(ratio - 1) < LEAST_EFFECT:
        return "small"
    if _stand_apart(*both):
        return ""
    apart = separation(*both) if by == "medians" else distance(*both)
    if apart < LEAST_SEPARATION:
        return "correlation"
    return "drift" if abs(math.log(ratio)) <= math.log1p(drift) else ""


def _stand_apart(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether the gap between the two is wider than the range within either, which no drift bridges."""
    gap = max(one.min() / other.max(), other.min() / one.max())
    return bool(gap > max(one.max() / one.min(), other.max() / other.min()))


def _bunches(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of neighbouring steps; what is left over at the end goes to none. At least two."""
    size = min(BUNCH, len(series) // 2)
    count = len(series) // size
    means: NDArray[np.float64] = series[: count * size].reshape(count, size).mean(axis=1)
    return means


def _interval(
    one: NDArray[np.float64], other: NDArray[np.float64], by: Statistic
) -> tuple[float, float] | None:
    """Percentile interval of the ratio over resampled blocks of steps."""
    if min(len(one), len(other)) < 3:
        return None
    generator = np.random.default_rng(SEED)
    ratios = _drawn(one, generator, by) / _drawn(other, generator, by)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(ratios, (tail, 1 - tail))
    return float(low), float(high)


def _drawn(
    series: NDArray[np.float64], generator: np.random.Generator, by: Statistic
) -> NDArray[np.float64]:
    """Medians or means of ``DRAWS`` series of the same length, drawn in blocks that wrap round the end."""
    count = len(series)
    block = block_length(series)
    if by == "means":
        block = max(block, min(BUNCH, max(count // 3, 1)))
    blocks = -(-count // block)
    at_once = max(1, _CELLS // count)
    found = []
    for first in range(0, DRAWS, at_once):
        rows = min(at_once, DRAWS - first)
        starts = generator.integers(0, count, size=(rows, blocks, 1))
        places = (starts + np.arange(block)).reshape(rows, -1)[:, :count] % count
        drawn = series[places]
        found.append(np.median(drawn, axis=1) if by == "medians" else drawn.mean(axis=1))
    return np.concatenate(found)


def block_length(series: NDArray[np.float64]) -> int:
    """Steps that are drawn together: the length that suits a first-order autoregression.

    The formula is that of Carlstein (1986); a third of the series at most.
    """
    count = len(series)
    rho = neighbours(series)
    best = (2 * rho / (1 - rho * rho)) ** (2 / 3) * count ** (1 / 3)
    return int(min(max(math.ceil(best), 1), max(count // 3, 1)))


def neighbours(series: NDArray[np.float64]) -> float:
    """Correlation of neighbouring steps, 0 to 0.95, without the bias of short series.

    It is taken over ranks, so that one slow step does not decide it. An estimate from ``n`` steps is
    too low by (1 + 4 rho) / n in the mean (Kendall 1954), which is added back.
    """
    ranks = _ranks(series)
    ranks -= ranks.mean()
    spread = float(ranks @ ranks)
    rho = float(ranks[:-1] @ ranks[1:]) / spread if spread > 0 else 0.0
    return min(max(rho + (1 + 4 * rho) / len(series), 0.0), 0.95)


def separation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """How far apart two series are, in standard deviations of the rank sum (Mann and Whitney 1947).

    Correlated neighbours count for less: the variance grows by (1 + rho) / (1 - rho).
    """
    size, count = len(one), len(one) + len(other)
    rho = (size * neighbours(one) + (count - size) * neighbours(other)) / count
    ranks = _ranks(np.concatenate([one, other])) + 1
    excess = float(ranks[:size].sum()) - size * (count + 1) / 2
    variance = size * (count - size) * (count + 1) / 12 * (1 + rho) / (1 - rho)
    return abs(excess) / math.sqrt(variance)


def distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """How far apart two means are, in standard errors of their difference (Welch 1947).

    Neighbouring steps that share a bunch count as one, and correlated bunches count for less.
    """
    both = [_bunches(one), _bunches(other)]
    errors = []
    for means in both:
        # Of steps that all take the same no correlation can be told.
        told = len(means) > 3 and min(np.ptp(means[:-1]), np.ptp(means[1:])) > 0
        rho = float(np.corrcoef(means[:-1], means[1:])[0, 1]) if told else 0.0
        rho = min(max(rho, 0.0), 0.95)
        errors.append(float(means.var(ddof=1)) / len(means) * (1 + rho) / (1 - rho))
    error = math.sqrt(sum(errors))
    apart = abs(float(one.mean() - other.mean()))
    if apart == 0:
        return 0.0
    return apart / error if error > 0 else math.inf


def _ranks(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 0; equal values share their mean rank."""
    _, inverse, counts = np.unique(series, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    mean = ends - (counts + 1) / 2
    ranks: NDArray[np.float64] = mean[inverse]
    return ranks


def _drift(series: NDArray[np.float64], by: Statistic) -> float | None:
    """How much the halves of one run differ by what counts, as a share; ``None`` below four steps."""
    if len(series) < 4:
        return None
    half = len(series) // 2
    figure = np.mean if by == "means" else np.median
    first, second = float(figure(series[:half])), float(figure(series[half:]))
    return max(first, second) / min(first, second) - 1
