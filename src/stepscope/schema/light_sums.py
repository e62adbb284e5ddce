"""What the rows of one process add up to; standard library only, because a watcher reads them too."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.schema.light import LightRow

SETTLING = 10
"""So many first steps are left out of every mean: they import, allocate and compile."""

LEAST_QUARTER = 20
"""Rows in a quarter of the run, below which no trend is told."""


def steady(rows: Sequence[LightRow]) -> Sequence[LightRow]:
    """The rows without the first steps; all where there are no others."""
    return [row for row in rows if row.first >= SETTLING] or rows


def steps_in(rows: Sequence[LightRow]) -> int:
    """How many steps the rows hold."""
    return sum(row.count for row in rows)


def mean_us(rows: Sequence[LightRow]) -> float:
    """Mean length of a step."""
    return sum(row.total_us for row in rows) / max(steps_in(rows), 1)


def mean_parts_us(rows: Sequence[LightRow]) -> list[float]:
    """Parts of the mean step, in the order of ``ALL_PARTS``; the host's own is the rest."""
    count = max(steps_in(rows), 1)
    sums = [sum(column) for column in zip(*(row.parts_us for row in rows), strict=True)]
    rest = sum(row.total_us for row in rows) - sum(sums)
    return [part / count for part in (*sums, max(rest, 0))]


def median_us(rows: Sequence[LightRow]) -> int:
    """Median of the rows' medians, each weighed by its steps."""
    half, reached = steps_in(rows) / 2, 0
    for row in sorted(rows, key=lambda row: row.middle_us):
        reached += row.count
        if reached >= half:
            return row.middle_us
    return 0


def seconds(rows: Sequence[LightRow]) -> float:
    """From the begin of the first step to the end of the last."""
    return (rows[-1].at_ms - rows[0].at_ms) / 1e3 + rows[-1].total_us / 1e6


def trend_frac(rows: Sequence[LightRow]) -> float | None:
    """How much longer steps are in the last quarter of the time than in the first; ``None`` with too few rows."""
    begin, end = rows[0].at_ms, rows[-1].at_ms
    quarter = (end - begin) / 4
    first = [row.middle_us for row in rows if row.at_ms <= begin + quarter]
    last = [row.middle_us for row in rows if row.at_ms >= end - quarter]
    if len(first) < LEAST_QUARTER or len(last) < LEAST_QUARTER or not median(first):
        return None
    return median(last) / median(first) - 1
