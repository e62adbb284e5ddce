"""Which host event lies inside which: depth, parent and self time.

Events of one thread are meant to nest, and where they do nothing loops over them. Real traces break
nesting by microseconds; those stretches are walked event by event. A child that outlasts its parent stays
a child, and only the part inside counts against the parent's self time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stepscope.trace import compiled

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MANY_THREADS = 64
"""With more threads than this, all are nested in one go."""

MOST_LANES = 2**20
"""The compiled core holds a number for each thread; when there would be more, Python does it."""

ROUNDING_NS = 1_000
"""Older files round starts and durations to microseconds each, so that siblings overlap by as much."""


def nest(thread: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Depth, parent and self time.

    Args:
        thread: Number of the thread of each event, from 0 on, shape (n,).
        start, end: Nanoseconds, shape (n,). Within a thread, events must come in order of start,
            the longer first where starts are equal.

    Returns:
        Depth (0 outermost), position of the parent (-1 for none) and self time in nanoseconds,
        each of shape (n,).
    """
    count = len(thread)
    if compiled.core is not None and count and int(thread.max()) < MOST_LANES:
        return compiled.nest(thread, start, end)
    depth, parent = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    own = end - start
    if count == 0:
        return depth, parent, own
    order = np.argsort(thread, kind="stable")
    borders = np.flatnonzero(np.diff(thread[order])) + 1
    if len(borders) < MANY_THREADS:
        for piece in np.split(order, borders):
            times = start[piece], end[piece]
            _nest(piece, times, times, depth, parent)
    else:
        times = start[order], end[order]
        _nest(order, times, _apart(borders, *times), depth, parent)
    inside = np.flatnonzero(parent >= 0)
    above = parent[inside]
    covered = np.minimum(end[inside], end[above]) - np.maximum(start[inside], start[above])
    np.subtract.at(own, above, np.maximum(covered, 0))
    return depth, parent, np.maximum(own, 0)


def _apart(borders: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Times in their order only, those of each thread behind all of the thread before."""
    places = np.unique(np.concatenate((start, end)), return_inverse=True)[1].astype(np.int64)
    thread = np.zeros(len(start), np.int64)
    thread[borders] = 1
    offset = np.cumsum(thread) * (2 * len(start) + 1)
    return places[: len(start)] + offset, places[len(start) :] + offset


def _nest(
    rows: Ints,
    times: tuple[Ints, Ints],
    places: tuple[Ints, Ints],
    depth: Ints,
    parent: Ints,
) -> None:
    """Fills in depth and parent of some rows.

    Args:
        rows: Whole threads, one after the other, each in order.
        times: Their starts and ends in nanoseconds.
        places: Starts and ends in the same order, without threads that overlap.
        depth, parent: Of all rows.
    """
    inner, outer = _nest_places(times, places)
    depth[rows] = inner
    parent[rows] = np.where(outer < 0, -1, rows[outer])


def _nest_places(times: tuple[Ints, Ints], places: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Depth and parent of the events of one thread, or of several that are apart."""
    start, end = places
    depth = _depths(start, end)
    parent = _parents(depth)
    crossing = (parent >= 0) & (end > end[parent])
    crossing |= (parent >= 0) & (end[parent] <= start) & (start[parent] < start)
    if crossing.any():
        reach = np.maximum.accumulate(end)
        opens = np.append(True, start[1:] >= reach[:-1])
        stretch = np.cumsum(opens) - 1
        edges = np.append(np.flatnonzero(opens), len(start))
        for number in np.unique(stretch[crossing]).tolist():
            low, high = int(edges[number]), int(edges[number + 1])
            walked = _walk(times[0][low:high].tolist(), times[1][low:high].tolist())
            depth[low:high] = walked[0]
            parent[low:high] = np.where(walked[1] < 0, -1, walked[1] + low)
    return depth, parent


def _depths(start: Ints, end: Ints) -> Ints:
    """How many earlier events of the thread are still open at each start."""
    # Doubling leaves room for an event of length zero to be open at its own start.
    closing = np.sort(np.where(end == start, 2 * start + 1, 2 * end))
    opened = np.arange(len(start), dtype=np.int64)
    closed = np.searchsorted(closing, 2 * start, side="right")
    still_open: Ints = np.maximum(opened - closed, 0)
    return still_open


def _parents(depth: Ints) -> Ints:
    """The parent is the last event before that lies one level up."""
    count = len(depth)
    rows = np.arange(count, dtype=np.int64)
    keys = np.sort(depth * count + rows)
    at = np.searchsorted(keys, (depth - 1) * count + rows) - 1
    found = keys[np.maximum(at, 0)]
    is_child = (depth > 0) & (at >= 0) & (found // count == depth - 1)
    return np.where(is_child, found % count, -1)


def _walk(start: list[int], end: list[int]) -> tuple[Ints, Ints]:
    """Depth and parent by a stack of what is open, for events that do not nest."""
    depth, parent = np.zeros(len(start), np.int64), np.full(len(start), -1, np.int64)
    stack: list[int] = []
    for row, (begin, finish) in enumerate(zip(start, end, strict=True)):
        while stack and _is_over(start[stack[-1]], end[stack[-1]], begin, finish):
            stack.pop()
        if stack:
            parent[row] = stack[-1]
        depth[row] = len(stack)
        stack.append(row)
    return depth, parent


def _is_over(start: int, end: int, begin: int, finish: int) -> bool:
    """Whether an open event cannot enclose one that begins and finishes later."""
    if end <= begin:
        return not (start == end == begin == finish)
    return end < finish and end - begin <= ROUNDING_NS and start < begin
