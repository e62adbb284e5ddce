"""Replaying a graph: when everything happens, given what everything waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.predict.graph import LAUNCH, NONE, WAIT, WAIT_ALL
from stepscope.predict.stretches import Stretches

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.intervals import Ints


class Times(Struct, frozen=True, eq=False):
    """When things happen in a replay, ns.

    Attributes:
        start, end: Of the anchors, shape ``(anchors,)``.
        work_start, work_end: Of the device work, shape ``(work,)``.
    """

    start: Ints
    end: Ints
    work_start: Ints
    work_end: Ints


def simulate(graph: Graph) -> Times:
    """Replays a graph.

    A call starts when the one it follows has ended and the gap is over. Work starts when its launch has
    reached the device, its stream is free and what it needs has ended. A launching call also waits
    while the driver's queue is full, a blocking call until its work is done. Everything that an anchor
    waits for comes before it, so that one pass is enough: O(anchors + work).
    """
    stretches = Stretches(graph)
    return Times(*stretches.run()) if stretches.are_long else one_by_one(graph)


def one_by_one(graph: Graph) -> Times:
    """Replays a graph one anchor and one piece of work after the other, whatever its form."""
    start: list[int] = []
    end: list[int] = []
    device = _Device(graph)
    follows, gap, own = graph.after.tolist(), graph.gaps.sum(axis=1).tolist(), graph.own.tolist()
    kinds, origin, upto = graph.kind.tolist(), graph.origin.tolist(), graph.upto.tolist()
    waits, post, depth = graph.wait.tolist(), graph.post.tolist(), graph.depth
    done = device.end
    for place, kind in enumerate(kinds):
        before = follows[place]
        begin = origin[place] if before == NONE else end[before] + gap[place]
        start.append(begin)
        finish = begin + own[place]
        queued = len(done)
        device.run(upto[place], start)
        if depth and kind == LAUNCH and queued >= depth and len(done) > queued:
            finish = max(finish, done[queued - depth])
        if kind == WAIT and waits[place] != NONE:
            finish = max(finish, done[waits[place]] + post[place])
        elif kind == WAIT_ALL:
            finish = max(finish, max(device.free) + post[place])
        end.append(finish)
    device.run(len(graph.launch), start)
    return Times(*(np.array(a, dtype=np.int64) for a in (start, end, device.start, done)))


class _Device:
    """The streams of all devices while they are replayed.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.start: list[int] = []
        self.end: list[int] = []
        self.free = [0] * (int(graph.stream.max(initial=0)) + 1)
        columns = (
            graph.launch,
            graph.stream,
            graph.lag,
            graph.space,
            graph.needs,
            graph.begun,
            graph.length,
        )
        self._rows = list(zip(*(column.tolist() for column in columns), strict=True))

    def run(self, upto: int, called: list[int]) -> None:
        """Runs the work up to a row, given when the calls that launch it start."""
        free, ends = self.free, self.end
        for launch, stream, lag, space, needs, begun, length in self._rows[len(ends) : upto]:
            begin = begun if launch == NONE else max(called[launch] + lag, free[stream] + space)
            if needs != NONE:
                begin = max(begin, ends[needs])
            finish = begin + length
            self.start.append(begin)
            ends.append(finish)
            free[stream] = max(free[stream], finish)
