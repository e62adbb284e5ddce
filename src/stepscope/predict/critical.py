"""What the length of the steps consists of: a walk back along whatever each thing waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepscope.predict.graph import COMMUNICATION, COMPUTE, LAUNCH, MARK, NONE, WAIT, WAIT_ALL
from stepscope.predict.work import before_on_stream

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.predict.simulate import Times

PARTS = (
    "input",
    "allocator",
    "operators",
    "pauses",
    "python",
    "launches",
    "compute",
    "communication",
    "copies",
    "latency",
)
"""Parts of a critical path: waiting for the loader; allocator calls; operators, long pauses between them, the
other Python and launching calls of the host while the device had nothing to do but wait for them; kernels; communication; copies; and
the latency of launches, of the space between kernels and of the return from blocking calls."""


NAMES = {COMPUTE: "compute", COMMUNICATION: "communication"}
"""Parts by sort of device work; all other sorts are copies."""


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The chain of things that each waited for the one before, through all steady steps.

    Attributes:
        length_ns: From the start of the first steady step to the end of the last, device work included.
        parts_ns: Time in each of ``PARTS``, in that order; they sum to the length.
    """

    length_ns: int
    parts_ns: tuple[int, ...]

    def share(self, part: str) -> float:
        """Share of one of ``PARTS``, 0 to 1."""
        return self.parts_ns[PARTS.index(part)] / self.length_ns if self.length_ns else 0.0


def critical_path(graph: Graph, times: Times) -> CriticalPath:
    """The critical path of a replay."""
    return _Walk(graph, times).run()


class _Walk:
    """Walks back from the last event to the first.

    Args:
        graph: What was replayed.
        times: The replay.
    """

    def __init__(self, graph: Graph, times: Times) -> None:
        self._graph, self._times = graph, times
        steady = np.flatnonzero(graph.is_steady)
        calls = np.flatnonzero(graph.kind != MARK)
        self._first, self._last = int(graph.starts[steady[0]]), int(graph.ends[steady[-1]])
        if not graph.are_steps and len(calls):
            # The bounds of a window are the profiler's: the program runs from its first call to its last.
            self._first, self._last = int(calls[0]), int(calls[times.end[calls].argmax()])
        self._from = int(times.start[self._first])
        self._parts = dict.fromkeys(PARTS, 0)
        self._by_end = np.argsort(times.work_end, kind="stable")
        self._queued = np.concatenate(([0], graph.upto[:-1]))
        # A walk takes single values, which a list gives many times faster than an array.
        self._start, self._end = times.start.tolist(), times.end.tolist()
        self._work_start, self._work_end = times.work_start.tolist(), times.work_end.tolist()
        self._before = before_on_stream(graph.stream).tolist()
        self._launch, self._lag = graph.launch.tolist(), graph.lag.tolist()
        self._needs = graph.needs.tolist()
        self._names = [NAMES.get(sort, "copies") for sort in graph.sort.tolist()]

    def run(self) -> CriticalPath:
        """Walks, and sums up what was passed."""
        upto = int(self._graph.upto[self._last])
        anchor, work = self._last, NONE
        at = self._end[self._last]
        if upto and self._times.work_end[:upto].max() > at:
            work = int(self._times.work_end[:upto].argmax())
            at = self._work_end[work]
        length, now, at_start = at - self._from, at, False
        passed: set[tuple[int, int, bool]] = set()
        # In broken traces work without a launch may overlap, or take no time, so that it follows itself.
        while now > self._from and (anchor, work, at_start) not in passed:
            passed.add((anchor, work, at_start))
            if work != NONE:
                anchor, work, now = self._through_work(work, now)
                at_start = True
            else:
                anchor, work, now = self._through_call(anchor, now, at_start=at_start)
                at_start = False
            if anchor == NONE and work == NONE:
                break
        self._pass("python", now, self._from)
        return CriticalPath(length, tuple(self._parts.values()))

    def _pass(self, part: str, since: int, until: int) -> None:
        """Counts the time from ``until`` to ``since``, as far as it lies after the first step's start."""
        spent = max(since, self._from) - max(until, self._from)
        if spent > 0:
            self._parts[part] += spent

    def _through_work(self, work: int, now: int) -> tuple[int, int, int]:
        begin = min(self._work_start[work], now)
        self._pass(self._names[work], now, begin)
        launch = self._launch[work]
        others = [self._before[work], self._needs[work]]
        if launch == NONE:
            others.append(self._ended_before(begin))
        candidates = [(self._work_end[one], one) for one in others if one != NONE]
        if launch != NONE:
            called = min(self._start[launch], begin)
            # At the same time, the launch is what was waited for.
            if not candidates or called + self._lag[work] >= max(candidates)[0]:
                self._pass("latency", begin, called)
                return launch, NONE, called
        if not candidates:
            return NONE, NONE, begin
        end, other = max(candidates)
        self._pass("latency", begin, end)
        return NONE, other, min(end, begin)

    def _ended_before(self, begin: int) -> int:
        """The work that ended last before a time; ``NONE`` when none had."""
        at = int(np.searchsorted(self._times.work_end[self._by_end], begin, side="right")) - 1
        return int(self._by_end[at]) if at >= 0 else NONE

    def _through_call(self, anchor: int, now: int, *, at_start: bool) -> tuple[int, int, int]:
        graph = self._graph
        if not at_start:
            blocker = self._blocker(anchor)
            if blocker != NONE:
                end = self._work_end[blocker]
                self._pass("latency", now, end)
                return NONE, blocker, min(end, now)
            begin = min(self._start[anchor], now)
            self._pass("launches", now, begin)
            now = begin
        before = int(graph.after[anchor])
        if before == NONE:
            return NONE, NONE, now
        for part, gap in zip(PARTS[:5], graph.gaps[anchor].tolist(), strict=True):
            self._pass(part, now, now - gap)
            now -= gap
        return before, NONE, min(self._end[before], now)

    def _blocker(self, anchor: int) -> int:
        """The work that a call waited for, ``NONE`` when it took no longer than by itself."""
        graph, times = self._graph, self._times
        if times.end[anchor] <= times.start[anchor] + graph.own[anchor]:
            return NONE
        if graph.kind[anchor] == WAIT:
            return int(graph.wait[anchor])
        if graph.kind[anchor] == WAIT_ALL:
            return int(times.work_end[: graph.upto[anchor]].argmax())
        if graph.kind[anchor] == LAUNCH:
            return int(self._queued[anchor]) - graph.depth
        return NONE
