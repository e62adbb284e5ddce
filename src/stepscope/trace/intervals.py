"""The one home of interval algebra.

An interval set is an int64 array of shape ``(n, 2)`` in nanoseconds, each row ``[start, end)``. Functions
that say "a set" expect what :func:`union` returns: sorted, disjoint, without empty rows. All of them
are vectorised and take O(n log n) or less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]

NONE: Ints = np.empty((0, 2), dtype=np.int64)
"""The empty set."""


def pairs(start: Ints, end: Ints) -> Ints:
    """Two columns as one array of shape ``(n, 2)``; nothing is sorted or merged."""
    return np.column_stack((start, end)).astype(np.int64, copy=False)


def of(frame: pl.DataFrame) -> Ints:
    """The set of times that the rows of a table cover, from its ``start_ns`` and ``end_ns``."""
    return union(pairs(frame["start_ns"].to_numpy(), frame["end_ns"].to_numpy()))


def union(*many: Ints) -> Ints:
    """Any intervals, in any order, overlapping or empty, as one set; touching ones become one."""
    rows = np.concatenate(many) if many else NONE
    rows = rows[rows[:, 1] > rows[:, 0]]
    if len(rows) < 2:
        return rows
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    reach = np.maximum.accumulate(rows[:, 1])
    first = np.concatenate(([True], rows[1:, 0] > reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return pairs(rows[first, 0], reach[last])


def total(a: Ints) -> int:
    """Length of a set."""
    return int((a[:, 1] - a[:, 0]).sum())


def complement(a: Ints, start: int, end: int) -> Ints:
    """What of ``[start, end)`` a set leaves free."""
    inner = clip(a, start, end)
    starts = np.concatenate(([start], inner[:, 1]))
    ends = np.concatenate((inner[:, 0], [end]))
    free = pairs(starts, ends)
    return free[free[:, 1] > free[:, 0]]


def clip(a: Ints, start: int, end: int) -> Ints:
    """The part of a set inside ``[start, end)``."""
    cut = np.clip(a, start, end)
    return cut[cut[:, 1] > cut[:, 0]]


def subtract(a: Ints, b: Ints) -> Ints:
    """The part of set ``a`` outside set ``b``."""
    if not len(a) or not len(b):
        return a
    low, high = int(a[0, 0]), int(a[-1, 1])
    return intersect(a, complement(b, low, high))


def intersect(a: Ints, b: Ints) -> Ints:
    """The part of set ``a`` inside set ``b``."""
    if not len(a) or not len(b):
        return NONE
    first = np.searchsorted(b[:, 1], a[:, 0], side="right")
    after = np.searchsorted(b[:, 0], a[:, 1], side="left")
    counts = np.maximum(after - first, 0)
    left = np.repeat(np.arange(len(a)), counts)
    offset = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = np.repeat(first, counts) + offset
    return pairs(np.maximum(a[left, 0], b[right, 0]), np.minimum(a[left, 1], b[right, 1]))


def covered_before(a: Ints, times: Ints) -> Ints:
    """How much of a set lies before each of ``times``, any shape."""
    lengths = a[:, 1] - a[:, 0]
    sums = np.concatenate(([0], np.cumsum(lengths)))
    index = np.searchsorted(a[:, 0], times, side="right")
    if not len(a):
        return np.zeros(np.shape(times), dtype=np.int64)
    inside = np.maximum(index - 1, 0)
    beyond = np.maximum(np.minimum(times, a[inside, 1]) - a[inside, 0], 0)
    return np.where(index > 0, sums[inside] + beyond, 0).astype(np.int64)


def measure(a: Ints, windows: Ints) -> Ints:
    """Length of a set inside each of many windows, which may overlap; shape ``(len(windows),)``."""
    if not len(windows):
        return np.zeros(0, dtype=np.int64)
    return covered_before(a, windows[:, 1]) - covered_before(a, windows[:, 0])


def contains(a: Ints, times: Ints) -> Bools:
    """For each time, whether it lies in an interval of a set, its start included and its end not."""
    index = np.searchsorted(a[:, 0], times, side="right") - 1
    if not len(a):
        return np.zeros(np.shape(times), dtype=np.bool_)
    inside: Bools = (index >= 0) & (times < a[np.maximum(index, 0), 1])
    return inside


def level_integral(spans: Ints, weights: Floats, cap: float, windows: Ints) -> float:
    """Integral over the windows (a set) of ``min(sum of the weights of the spans there, cap)``, in ns.

    Spans may overlap and need no order; shape of ``weights`` is ``(len(spans),)``.
    """
    if not len(spans) or not len(windows):
        return 0.0
    times = np.concatenate((spans[:, 0], spans[:, 1]))
    change = np.concatenate((weights, -weights))
    order = np.argsort(times, kind="stable")
    times = times[order]
    # Rounding of the running sum may leave a tiny negative level behind the last span.
    level = np.clip(np.cumsum(change[order])[:-1], 0.0, cap)
    inside = np.diff(covered_before(windows, times))
    return float((level * inside).sum())
