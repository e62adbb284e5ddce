"""What the steady steps consist of: a walk back in time along whatever each thing waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.predict.graph import COMMUNICATION, COMPUTE, LAUNCH, NONE, WAIT, WAIT_ALL
from stepscope.predict.period import pace_of
from stepscope.predict.work import before_on_stream
from stepscope.schema.vocabulary import PATH_PARTS
from stepscope.trace import intervals as iv

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.predict.simulate import Times
    from stepscope.trace.intervals import Ints

GAPS = tuple(
    PATH_PARTS.index(part)
    for part in (
        "input",
        "allocator",
        "operators",
        "pauses",
        "python",
        "profiler",
        "unexplained",
    )
)
"""Parts in the order of the columns of gaps: those of ``Graph.gaps``, and two more."""

LAUNCHES, KERNELS, COLLECTIVES, COPIES, LATENCY, UNEXPLAINED = (
    PATH_PARTS.index(part)
    for part in ("launches", "compute", "communication", "copies", "latency", "unexplained")
)

OF_SORT = {COMPUTE: KERNELS, COMMUNICATION: COLLECTIVES}
"""Parts by sort of device work; all other sorts are copies."""


class CriticalPath(Struct, frozen=True, eq=False):
    """The chain of things that each waited for the one before, as far as it lies in the steady steps.

    Attributes:
        steps: How many these are; 1 for a window without steps.
        length_ns: Their length in the replay, all together, on the host or on the device: see ``period.Pace``.
        parts_ns: Time in each of ``PATH_PARTS``, in that order; they sum to the length.
        work_ns: Time of each piece of device work on it, shape ``(work,)``.
    """

    steps: int
    length_ns: int
    parts_ns: tuple[int, ...]
    work_ns: Ints

    def share(self, part: str) -> float:
        """Share of one of ``PATH_PARTS``, 0 to 1."""
        return self.parts_ns[PATH_PARTS.index(part)] / self.length_ns if self.length_ns else 0.0


def critical_path(graph: Graph, times: Times, gaps: Ints | None = None) -> CriticalPath:
    """The critical path of a replay that has a steady step.

    The walk starts at the end of the last steady step, on the host or on the device, whichever sets the pace,
    and goes back to the start of the first. Where a call or a piece of work began as soon as several things were over, it follows the last
    of them. So every instant belongs to one thing. What lies between steady steps is left out.

    Args:
        graph: What was replayed.
        times: The replay.
        gaps: Those of the graph, or the same time in more columns, named by ``GAPS``.
    """
    return _Walk(graph, times, graph.gaps if gaps is None else gaps).run()


class _Walk:
    """Walks back from the last event to the first.

    Args:
        graph: What was replayed.
        times: The replay.
        gaps: As :func:`critical_path` takes them.
    """

    def __init__(self, graph: Graph, times: Times, gaps: Ints) -> None:
        self._graph = graph
        # A walk takes single values, which a list gives many times faster than an array.
        self._start, self._end = times.start.tolist(), times.end.tolist()
        self._work_start, self._work_end = times.work_start.tolist(), times.work_end.tolist()
        self._before = before_on_stream(graph.stream).tolist()
        self._launch, self._lag = graph.launch.tolist(), graph.lag.tolist()
        self._space, self._needs = graph.space.tolist(), graph.needs.tolist()
        self._sort, self._kind = graph.sort.tolist(), graph.kind.tolist()
        self._after, self._gaps = graph.after.tolist(), gaps.tolist()
        self._own, self._wait, self._upto = (
            graph.own.tolist(),
            graph.wait.tolist(),
            graph.upto.tolist(),
        )
        order = np.argsort(times.work_end, kind="stable")
        self._by_end, self._ends = order, times.work_end[order]
        # The first of the work that ends latest of all until each.
        highest = np.maximum.accumulate(times.work_end)
        rises = np.concatenate(([False], highest[1:] > highest[:-1]))[: len(highest)]
        self._latest = np.maximum.accumulate(np.where(rises, np.arange(len(highest)), 0)).tolist()
        self._pace = pace_of(graph, times)
        self._parts: list[int] = []
        self._until: list[int] = []
        self._work: list[int] = []

    def run(self) -> CriticalPath:
        """Walks, and sums up what was passed."""
        since, top = int(self._pace.bounds.min()), int(self._pace.bounds.max())
        anchor, work = self._last(top)
        now, at_start = top, False
        passed: set[tuple[int, int, bool]] = set()
        # In broken traces work without a launch may overlap, or take no time, so that it follows itself.
        while now > since and (anchor, work, at_start) not in passed:
            passed.add((anchor, work, at_start))
            if work != NONE:
                anchor, work, now = self._through_work(work, now)
                at_start = True
            else:
                anchor, work, now = self._through_call(anchor, now, at_start=at_start)
                at_start = False
            if anchor == NONE and work == NONE:
                break
        self._pass(UNEXPLAINED, since)
        return self._summed(top)

    def _last(self, top: int) -> tuple[int, int]:
        """The anchor, else the work, at whose end the last step ends."""
        graph = self._graph
        if graph.are_steps and not self._pace.on_device:
            return int(graph.ends[graph.is_steady][-1]), NONE
        if top in self._work_end:
            return NONE, len(self._work_end) - 1 - self._work_end[::-1].index(top)
        return len(self._end) - 1 - self._end[::-1].index(top), NONE

    def _summed(self, top: int) -> CriticalPath:
        """Each piece lasts from where it begins to the lowest point that the walk had reached before."""
        reached = np.minimum.accumulate(np.array([top, *self._until]))
        spent = iv.measure(iv.union(self._pace.bounds), iv.pairs(reached[1:], reached[:-1]))
        parts = np.zeros(len(PATH_PARTS), np.int64)
        np.add.at(parts, np.array(self._parts), spent)
        rows = np.array(self._work)
        work = np.zeros(len(self._launch), np.int64)
        np.add.at(work, rows[rows != NONE], spent[rows != NONE])
        return CriticalPath(len(self._pace.bounds), int(spent.sum()), tuple(parts.tolist()), work)

    def _pass(self, part: int, until: int, work: int = NONE) -> None:
        """From where the walk is back to a time, something of that part was waited for."""
        self._parts.append(part)
        self._until.append(until)
        self._work.append(work)

    def _through_work(self, work: int, now: int) -> tuple[int, int, int]:
        start = self._work_start[work]
        begin = min(start, now)
        self._pass(OF_SORT.get(self._sort[work], COPIES), begin, work)
        launch, before, needs = self._launch[work], self._before[work], self._needs[work]
        # At the same time, the launch is what was waited for.
        if launch != NONE and self._start[launch] + self._lag[work] >= start:
            called = min(self._start[launch], begin)
            self._pass(LATENCY, called)
            return launch, NONE, called
        if launch == NONE:
            return self._before_unlaunched(begin, before, needs)
        if before == NONE and needs == NONE:
            return NONE, NONE, begin
        behind = before != NONE and (
            needs == NONE or self._work_end[before] + self._space[work] >= self._work_end[needs]
        )
        other = before if behind else needs
        self._pass(LATENCY, self._work_end[other])
        return NONE, other, min(self._work_end[other], begin)

    def _before_unlaunched(self, begin: int, before: int, needs: int) -> tuple[int, int, int]:
        """Who launched it, and when, is not known: before it comes what ended last."""
        place = int(np.searchsorted(self._ends, begin, side="right")) - 1
        ended = int(self._by_end[place]) if place >= 0 else NONE
        ready = [(self._work_end[one], one) for one in (before, needs, ended) if one != NONE]
        if not ready:
            return NONE, NONE, begin
        end, other = max(ready)
        self._pass(UNEXPLAINED, end)
        return NONE, other, min(end, begin)

    def _through_call(self, anchor: int, now: int, *, at_start: bool) -> tuple[int, int, int]:
        if not at_start:
            blocker = self._blocker(anchor)
            if blocker != NONE:
                end = self._work_end[blocker]
                self._pass(LATENCY, end)
                return NONE, blocker, min(end, now)
            now = min(self._start[anchor], now)
            self._pass(LAUNCHES, now)
        before = self._after[anchor]
        if before == NONE:
            return NONE, NONE, now
        for part, gap in zip(GAPS, self._gaps[anchor], strict=False):
            now -= gap
            if gap:
                self._pass(part, now)
        return before, NONE, min(self._end[before], now)

    def _blocker(self, anchor: int) -> int:
        """The work that a call waited for, ``NONE`` when it took no longer than by itself."""
        if self._end[anchor] <= self._start[anchor] + self._own[anchor]:
            return NONE
        kind = self._kind[anchor]
        if kind == WAIT:
            return int(self._wait[anchor])
        if kind == WAIT_ALL:
            return int(self._latest[self._upto[anchor] - 1])
        if kind == LAUNCH:
            return (self._upto[anchor - 1] if anchor else 0) - self._graph.depth
        return NONE
