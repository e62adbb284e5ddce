"""From checked tables to the graph that is replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepscope.predict import anchors as host_side
from stepscope.predict import waits
from stepscope.predict.graph import NONE, TO_DEVICE, WAIT, Graph
from stepscope.predict.work import Work, work_of
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace


LONGEST_LAG_NS = 1_000_000
"""A copy in which the host takes no part and that starts later than this waited for something else."""


def build(trace: Trace) -> Graph:
    """The graph of a whole trace, all its windows included."""
    anchors = host_side.anchors_of(trace)
    after = host_side.predecessors(anchors)
    work = work_of(trace, anchors)
    wait, post, own = waits.waits_of(anchors, work)
    scope = scope_of(trace)
    return Graph(
        kind=anchors.kind,
        origin=anchors.start,
        returned=anchors.end,
        is_main=anchors.thread == 0,
        after=after,
        gaps=host_side.gaps_of(trace.host, anchors, after),
        own=own,
        wait=wait,
        post=post,
        upto=waits.work_before(anchors, work),
        sort=work.sort,
        stream=work.stream,
        length=work.end - work.begun,
        launch=work.launch,
        lag=_lags(anchors, own, work),
        space=work.space,
        needs=work.needs,
        begun=work.begun,
        table_row=work.table_row,
        starts=anchors.starts,
        ends=anchors.ends,
        is_steady=scope.is_steady,
        are_steps=scope.are_steps,
        depth=waits.QUEUE_DEPTH if _is_nvidia(trace) else 0,
    )


def _lags(anchors: host_side.Anchors, own: Ints, work: Work) -> Ints:
    """From the start of the launching call to the earliest start of its work.

    The latency is the typical one, counted from the end of the call less a usual call's length, because
    a call that takes long hands its work over at its end. A copy that found its stream free has its own
    latency, in which the host may fill a buffer.
    """
    lag = np.zeros(len(work.launch), dtype=np.int64)
    known = work.launch != NONE
    launch = work.launch[known]
    if not len(launch):
        return lag
    usual = int(np.median(own[launch]))
    late = work.lag_ns + np.maximum(own[launch] - usual, 0)
    measured = work.begun[known] - anchors.start[launch]
    lag[known] = np.minimum(late, np.maximum(measured, work.lag_ns))
    copies = np.flatnonzero(known & (work.sort >= TO_DEVICE) & work.found_free)
    measured = work.begun[copies] - anchors.start[work.launch[copies]]
    with_host = anchors.kind[work.launch[copies]] == WAIT
    explained = (measured < LONGEST_LAG_NS) | with_host
    lag[copies[explained]] = measured[explained]
    return lag


def _is_nvidia(trace: Trace) -> bool:
    return any(device.compute_capability is not None for device in trace.meta.devices)
