"""Which host event lies inside which: depth, parent and self time, without a loop over events.

Events of one thread are meant to nest. Real traces break that by microseconds, and older ones hold
events of length zero, so a child may outlast its parent: it stays a child, and only the part inside
counts against the parent's self time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def nest(thread: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Depth, parent and self time.

    Args:
        thread: Number of the thread of each event, shape (n,).
        start, end: Nanoseconds, shape (n,). Within a thread, events must come in order of start,
            the longer first where starts are equal.

    Returns:
        Depth (0 outermost), position of the parent (-1 for none) and self time in nanoseconds,
        each of shape (n,).
    """
    count = len(thread)
    depth = np.zeros(count, np.int64)
    parent = np.full(count, -1, np.int64)
    own = end - start
    if count == 0:
        return depth, parent, own
    order = np.argsort(thread, kind="stable")
    sorted_thread = thread[order]
    borders = np.flatnonzero(np.diff(sorted_thread)) + 1
    for piece in np.split(order, borders):
        depth[piece] = _depths(start[piece], end[piece])
    _link(order, sorted_thread, depth, parent)
    inside = np.flatnonzero(parent >= 0)
    above = parent[inside]
    covered = np.minimum(end[inside], end[above]) - np.maximum(start[inside], start[above])
    np.subtract.at(own, above, np.maximum(covered, 0))
    return depth, parent, np.maximum(own, 0)


def _depths(start: Ints, end: Ints) -> Ints:
    """How many earlier events of the thread are still open at each start."""
    # Doubling leaves room for an event of length zero to be open at its own start.
    closing = np.sort(np.where(end == start, 2 * start + 1, 2 * end))
    opened = np.arange(len(start), dtype=np.int64)
    closed = np.searchsorted(closing, 2 * start, side="right")
    still_open: Ints = np.maximum(opened - closed, 0)
    return still_open


def _link(order: Ints, thread: Ints, depth: Ints, parent: Ints) -> None:
    """The parent is the last event before, in the same thread, one level up."""
    by_depth = depth[order]
    above = np.flatnonzero(by_depth == 0)
    for level in range(1, int(by_depth.max(initial=0)) + 1):
        here = np.flatnonzero(by_depth == level)
        if len(here) and len(above):
            found = np.searchsorted(above, here) - 1
            candidate = above[np.maximum(found, 0)]
            valid = (found >= 0) & (thread[candidate] == thread[here])
            parent[order[here[valid]]] = order[candidate[valid]]
        above = here
