"""Steady growth of memory: a leak, told from a start that fills caches and from ups and downs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BINS = 10
SETTLED_FRAC = 0.2
"""The first fifth of a run fills caches and pools; growth there is no leak."""
RISING_BINS = 8
"""So many of the nine steps between bins must rise."""
LEAST_FRAC = 0.02
LEAST_BYTES = 50_000_000
"""Growth over the settled part below either of these is not worth a word."""


def steady_growth(points: Sequence[tuple[float, float]]) -> float | None:
    """Bytes a second of steady growth; ``None`` when there is none, or too little to judge.

    The settled part is cut into ten bins of equal time; the lowest value of each stands for it, so that
    memory which comes and goes with every epoch does not count. Growth is steady when at least eight of
    the nine steps between bins rise and none of them falls back by more than a tenth of the whole growth.

    Args:
        points: Time in seconds and bytes, in order of time.
    """
    if len(points) < 3 * BINS:
        return None
    first, last = points[0][0], points[-1][0]
    start = first + SETTLED_FRAC * (last - first)
    width = (last - start) / BINS
    if width <= 0:
        return None
    lows: list[float | None] = [None] * BINS
    for at, value in points:
        if at < start:
            continue
        place = min(int((at - start) / width), BINS - 1)
        low = lows[place]
        lows[place] = value if low is None else min(low, value)
    known = [low for low in lows if low is not None]
    if len(known) < BINS:
        return None
    grown = known[-1] - known[0]
    steps = [after - before for before, after in itertools.pairwise(known)]
    if grown < max(LEAST_BYTES, LEAST_FRAC * known[0]):
        return None
    if sum(step > 0 for step in steps) < RISING_BINS or min(steps) < -0.1 * grown:
        return None
    return grown / (width * (BINS - 1))
