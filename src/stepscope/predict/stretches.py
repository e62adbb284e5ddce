"""Replaying a graph in stretches between the calls that wait, all of a stretch at once.

In a stretch each anchor starts a gap after the end of the one before and takes its own time, unless it has to wait
for a time that is known: ``end[i] = max(end[i-1] + gap[i] + own[i], floor[i])``. With ``sum[i]``, the running sum of
``gap + own``, that is ``end[i] - sum[i] = max(end[i-1] - sum[i-1], floor[i] - sum[i])``: a running maximum. Work
on a stream is the same with its space and length, and with the arrival of its launch as the floor.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from stepscope.predict.graph import LAUNCH, NONE, WAIT, WAIT_ALL

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.intervals import Bools, Ints

LEAST_STRETCH = 12
"""Stretches that are shorter than this on average are walked faster one by one."""

LONG_AGO = np.iinfo(np.int64).min


class Stretches:
    """A graph cut into stretches.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._device = _Streams(graph)
        self._waits = ((graph.kind == WAIT) & (graph.wait != NONE)) | (graph.kind == WAIT_ALL)
        count = len(graph.kind)
        follows_other = (graph.after == NONE) | (graph.after != np.arange(count) - 1)
        self._borders = np.flatnonzero(self._waits | follows_other).tolist()

    @property
    def are_long(self) -> bool:
        """Whether they are so long that taking them at once pays."""
        rows = len(self._graph.kind) + len(self._graph.launch)
        cuts = len(self._borders) + self._device.pieces
        return bool(self._borders) and cuts * LEAST_STRETCH <= rows

    def run(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Start and end of the anchors, start and end of the device work, ns."""
        graph = self._graph
        count, depth = len(graph.kind), graph.depth
        self._gap = graph.gaps.sum(axis=1)
        self._sum = np.cumsum(self._gap + graph.own)
        self._start, self._end = np.zeros(count, np.int64), np.zeros(count, np.int64)
        launched = np.maximum.accumulate(graph.upto)
        self._queued = np.concatenate((np.zeros(min(count, 1), np.int64), launched[:-1]))
        limited = (graph.kind == LAUNCH) & (self._queued >= depth) & (launched > self._queued)
        self._limited = np.flatnonzero(limited).tolist() if depth else []
        for since, until in zip(self._borders, [*self._borders[1:], count], strict=True):
            self._stretch(since, until)
        self._device.run(len(graph.launch), self._start)
        done = self._device.end
        return self._start, self._end, done - graph.length, done

    def _stretch(self, since: int, until: int) -> None:
        """From one border to the next; in parts where launches wait for work that was launched in between."""
        graph, at = self._graph, since
        before = int(graph.after[since])
        while at < until:
            begin = int(graph.origin[at] if before == NONE else self._end[before] + self._gap[at])
            self._start[at] = begin
            finish = begin + int(graph.own[at])
            if at == since and self._waits[at]:
                finish = max(finish, self._awaited(at))
            part = until
            full = self._full(at, until)
            if full:
                ready = int(self._queued[at])
                self._device.run(ready, self._start)
                part = min(until, int(np.searchsorted(self._queued, ready + graph.depth)))
                full = self._full(at, part)
            self._part(at, part, finish, full)
            before, at = part - 1, part

    def _full(self, since: int, until: int) -> list[int]:
        """Launches that find the driver's queue full."""
        limited = self._limited
        return limited[bisect_left(limited, since) : bisect_left(limited, until)] if limited else []

    def _part(self, since: int, until: int, finish: int, full: list[int]) -> None:
        """The anchors of a part, the first of which has started and ends at ``finish`` at the earliest."""
        added = self._sum[since:until]
        offset = finish - self._sum[since]
        if full:
            rows = np.array(full)
            floor = np.full(until - since, LONG_AGO)
            freed = self._queued[rows] - self._graph.depth
            floor[rows - since] = self._device.end[freed] - self._sum[rows]
            floor[0] = max(floor[0], offset)
            self._end[since:until] = np.maximum.accumulate(floor) + added
        else:
            np.add(added, offset, out=self._end[since:until])
        np.add(
            self._end[since : until - 1],
            self._gap[since + 1 : until],
            out=self._start[since + 1 : until],
        )

    def _awaited(self, anchor: int) -> int:
        """When the call that waits may return."""
        graph, device = self._graph, self._device
        device.run(int(graph.upto[anchor]), self._start)
        is_whole = graph.kind[anchor] == WAIT_ALL
        done = max(device.free) if is_whole else int(device.end[graph.wait[anchor]])
        return done + int(graph.post[anchor])


class _Streams:
    """The streams of all devices, whose work is cut into pieces.

    Work of a piece lies on one stream and waits for nothing but its launch and the work before it. Where the
    launch was not recorded, it has its measured start. Work that ends before its predecessor, which
    happens in broken traces, is a piece of its own.

    Args:
        graph: The graph.

    Attributes:
        end: When work has ended, ns, shape ``(work,)``; zero before it was run.
        free: When each stream is free, ns.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.end = np.zeros(len(graph.launch), np.int64)
        self.free = [0] * (int(graph.stream.max(initial=0)) + 1)
        self._done = self._piece = 0
        self._unlaunched: Bools = graph.launch == NONE
        self._each = graph.space + graph.length
        self._nested: Bools = (self._each < 0) & ~self._unlaunched
        first = np.ones(len(graph.launch), np.bool_)
        first[1:] = (graph.stream[1:] != graph.stream[:-1]) | self._nested[:-1]
        first[1:] |= self._unlaunched[1:] != self._unlaunched[:-1]
        first |= self._nested | (graph.needs != NONE)
        self._firsts = [*np.flatnonzero(first).tolist(), len(first)]
        self._sum = np.cumsum(self._each)
        self._arrival = graph.lag + graph.length - self._sum

    @property
    def pieces(self) -> int:
        """Pieces in all."""
        return len(self._firsts) - 1

    def run(self, upto: int, called: Ints) -> None:
        """Runs the work up to a row, given when the calls that launch it start."""
        while self._done < upto:
            since = self._done
            while self._firsts[self._piece] <= since:
                self._piece += 1
            until = min(upto, self._firsts[self._piece])
            stream = int(self._graph.stream[since])
            if self._unlaunched[since]:
                self._run_unlaunched(since, until, stream)
            else:
                self._run_piece(since, until, stream, called)
            self._done = until

    def _run_unlaunched(self, since: int, until: int, stream: int) -> None:
        begin = self._graph.begun[since:until].copy()
        begin[0] = max(begin[0], self._needed(since))
        np.add(begin, self._graph.length[since:until], out=self.end[since:until])
        self.free[stream] = max(self.free[stream], int(self.end[since:until].max()))

    def _run_piece(self, since: int, until: int, stream: int, called: Ints) -> None:
        graph = self._graph
        floor = called[graph.launch[since:until]] + self._arrival[since:until]
        behind = self.free[stream] + int(graph.space[since])
        first = max(behind, self._needed(since)) + int(graph.length[since] - self._sum[since])
        floor[0] = max(floor[0], first)
        np.maximum.accumulate(floor, out=floor)
        np.add(floor, self._sum[since:until], out=self.end[since:until])
        self.free[stream] = max(self.free[stream], int(self.end[until - 1]))

    def _needed(self, row: int) -> int:
        """When the work of another stream that the row needs has ended."""
        needs = int(self._graph.needs[row])
        return LONG_AGO if needs == NONE else int(self.end[needs])
