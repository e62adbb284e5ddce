"""What blocking calls wait for, and how long calls take by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepscope.predict.graph import LAUNCH, MARK, NONE, WAIT, WAIT_ALL
from stepscope.predict.work import SKEW_NS

if TYPE_CHECKING:
    from stepscope.predict.anchors import Anchors
    from stepscope.predict.work import Work
    from stepscope.trace.intervals import Bools, Ints

QUEUE_DEPTH = 1_022
"""Launches that NVIDIA's driver queues before a launching call waits, as seen in every trace with a full
queue; with AMD 1,849 were seen without any waiting."""

USUAL_CALL_NS, USUAL_POST_NS = 5_000, 10_000
"""A call's own time, and the time from the end of the work to its return, where a trace has none."""

LONG_NS = 100_000
"""A launching call this long waited for something."""


def waits_of(anchors: Anchors, work: Work) -> tuple[Ints, Ints, Ints]:
    """For each anchor the work that it waits for, the time from its end to the return, its own time.

    A blocking copy waits for itself. Another blocking call waits for the last work of the stream whose
    last work ended during the call; which stream or event it names is not recorded. Where nothing ended
    during it, it found its stream empty, and the last work launched before it stands for that stream.
    """
    count = len(anchors.start)
    duration = anchors.end - anchors.start
    wait = np.full(count, NONE, dtype=np.int64)
    upto = work_before(anchors, work)
    rows = np.flatnonzero(anchors.kind == WAIT)
    launched = np.zeros(count, dtype=np.bool_)
    launched[work.launch[work.launch != NONE]] = True
    own_copy = rows[launched[rows]]
    wait[own_copy] = upto[own_copy] - 1
    others = rows[~launched[rows]]
    wait[others] = _last_ended(anchors, work, others, upto)
    reached = np.full(count, np.iinfo(np.int64).min)
    known = wait != NONE
    reached[known] = work.end[wait[known]]
    every = np.flatnonzero(anchors.kind == WAIT_ALL)
    furthest = np.maximum.accumulate(work.end) if len(work.end) else work.end
    filled = every[upto[every] > 0]
    reached[filled] = furthest[upto[filled] - 1]
    waited = (reached > anchors.start) & (anchors.kind != MARK)
    # A copy from pageable memory returns slightly before its work ends: a negative distance.
    late = np.where(waited, anchors.end - reached, 0)
    usual_post = int(np.median(late[waited])) if waited.any() else USUAL_POST_NS
    post = np.where(waited, late, np.minimum(usual_post, duration)).astype(np.int64)
    simple = duration[(anchors.kind == LAUNCH) & (duration < LONG_NS)]
    usual = int(np.median(simple)) if len(simple) else USUAL_CALL_NS
    own = np.where(waited, np.minimum(usual, duration), duration).astype(np.int64)
    full = _queue_was_full(anchors, work, duration)
    own[full] = usual
    return wait, post, own


def work_before(anchors: Anchors, work: Work) -> Ints:
    """How much work is launched by the end of each anchor, shape ``(anchors,)``."""
    # Work of unknown launch belongs to the launch after it.
    owner = np.where(work.launch == NONE, np.iinfo(np.int64).max, work.launch)
    owner = np.minimum.accumulate(owner[::-1])[::-1]
    return np.searchsorted(owner, np.arange(len(anchors.start)), side="right").astype(np.int64)


def _last_ended(anchors: Anchors, work: Work, rows: Ints, upto: Ints) -> Ints:
    chosen = np.full(len(rows), NONE, dtype=np.int64)
    latest = np.full(len(rows), np.iinfo(np.int64).min)
    limit = anchors.end[rows] + SKEW_NS
    for number in range(int(work.stream.max(initial=NONE)) + 1):
        own = np.flatnonzero(work.stream == number)
        at = np.searchsorted(own, upto[rows]) - 1
        last = own[np.maximum(at, 0)]
        better = (at >= 0) & (work.end[last] <= limit) & (work.end[last] > latest)
        chosen[better], latest[better] = last[better], work.end[last[better]]
    return chosen


def _queue_was_full(anchors: Anchors, work: Work, duration: Ints) -> Bools:
    """Launching calls that waited because the driver's queue was full."""
    launches = np.sort(anchors.start[work.launch[work.launch != NONE]])
    ended = np.sort(work.end[work.launch != NONE])
    waiting = np.searchsorted(launches, anchors.end) - np.searchsorted(ended, anchors.end)
    full: Bools = (anchors.kind == LAUNCH) & (duration > LONG_NS / 4) & (waiting >= QUEUE_DEPTH - 4)
    return full
