"""Something that adds up over time, known at moments and taken as even between them."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable


class Curve(Struct, frozen=True):
    """What has come together until each of some moments.

    Attributes:
        times: Seconds, rising.
        totals: What had come together by then, never falling.
    """

    times: tuple[float, ...]
    totals: tuple[float, ...]

    @property
    def is_known(self) -> bool:
        """Whether there are two moments, so that something lies between them."""
        return len(self.times) >= 2

    @property
    def total(self) -> float:
        """From the first moment to the last; 0 without any."""
        return self.totals[-1] - self.totals[0] if self.totals else 0.0

    def at(self, moment: float) -> float:
        """The total at a moment: on the line between its neighbours; before and after all, that of the end."""
        place = bisect.bisect_right(self.times, moment)
        if place == 0:
            return self.totals[0]
        if place == len(self.times):
            return self.totals[-1]
        before, after = self.times[place - 1], self.times[place]
        share = (moment - before) / (after - before)
        low, high = self.totals[place - 1], self.totals[place]
        return low + share * (high - low)

    def covered(self, start: float, end: float) -> float:
        """How many seconds of a stretch lie between the first moment and the last."""
        if not self.is_known:
            return 0.0
        return max(min(end, self.times[-1]) - max(start, self.times[0]), 0.0)

    def between(self, start: float, end: float) -> float:
        """What came together in a stretch, as far as it is covered."""
        return self.at(end) - self.at(start) if self.covered(start, end) > 0 else 0.0

    def rate(self, stretches: Iterable[tuple[float, float]]) -> float | None:
        """What came together each second of some stretches; ``None`` where none of them is covered."""
        amount = seconds = 0.0
        for start, end in stretches:
            seconds += self.covered(start, end)
            amount += self.between(start, end)
        return amount / seconds if seconds > 0 else None

    def shifted(self, seconds: float) -> Curve:
        """The same on a clock whose zero lies so much earlier."""
        return Curve(tuple(time + seconds for time in self.times), self.totals)


def of_counter(points: Iterable[tuple[float, float]]) -> Curve:
    """A counter's rise. One that falls has started anew, and counts from 0."""
    times: list[float] = []
    totals: list[float] = []
    last = 0.0
    for at, count in points:
        if times and at <= times[-1]:
            continue
        rise = 0.0 if not times else count - last if count >= last else count
        totals.append((totals[-1] if totals else 0.0) + rise)
        times.append(at)
        last = count
    return Curve(tuple(times), tuple(totals))


def of_rate(points: Iterable[tuple[float, float]], most_gap_s: float = float("inf")) -> Curve:
    """The area under a line through the points; a longer gap between two counts as ``most_gap_s``."""
    times: list[float] = []
    totals: list[float] = []
    last = 0.0
    for at, rate in points:
        if times and at <= times[-1]:
            continue
        area = 0.0 if not times else min(at - times[-1], most_gap_s) * (last + rate) / 2
        totals.append((totals[-1] if totals else 0.0) + area)
        times.append(at)
        last = rate
    return Curve(tuple(times), tuple(totals))


def of_means(points: Iterable[tuple[float, float]]) -> Curve:
    """The area under steps: each value is the mean of the time since the point before it."""
    times: list[float] = []
    totals: list[float] = []
    for at, mean in points:
        if times and at <= times[-1]:
            continue
        totals.append((totals[-1] + (at - times[-1]) * mean) if totals else 0.0)
        times.append(at)
    return Curve(tuple(times), tuple(totals))


def added(curves: Iterable[Curve]) -> Curve:
    """The sum of some curves, each of which stands still before its first moment and after its last."""
    some = [curve for curve in curves if curve.times]
    times = sorted({time for curve in some for time in curve.times})
    totals = tuple(sum(curve.at(time) for curve in some) for time in times)
    return Curve(tuple(times), totals)
