"""Replaying a trace unchanged, and how well that gives the measured steps back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.predict.build import build
from stepscope.predict.graph import MARK, NONE
from stepscope.predict.simulate import Times, simulate
from stepscope.trace.intervals import pairs

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.intervals import Floats, Ints
    from stepscope.trace.model import Trace

MOST_ERROR_FRAC = 0.05
"""A prediction is withheld when the replay without any change is off by more."""


class Replay(Struct, frozen=True, eq=False):
    """A trace replayed unchanged.

    Attributes:
        graph: What was replayed.
        times: When everything happened in the replay.
        measured_ns, replayed_ns: Length of each step, shape ``(steps,)``; of the stretch from the first
            call or work to the last where there are no steps, shape ``(1,)``.
        error_frac: Relative error of each, shape like them.
    """

    graph: Graph
    times: Times
    measured_ns: Ints
    replayed_ns: Ints
    error_frac: Floats


def replay(trace: Trace) -> Replay:
    """Builds the graph of a trace and replays it unchanged."""
    graph = build(trace)
    times = simulate(graph)
    known = measured_times(graph)
    measured, replayed = lengths(graph, known), lengths(graph, times)
    error = np.abs(replayed - measured) / np.maximum(measured, 1)
    if graph.are_steps and len(graph.launch):
        was, now = completions(graph, known), completions(graph, times)
        error = np.maximum(error, np.abs(now - was) / np.maximum(was, 1))
    return Replay(graph, times, measured, replayed, error)


def measured_times(graph: Graph) -> Times:
    """When everything happened in the recording."""
    return Times(graph.origin, graph.returned, graph.begun, graph.begun + graph.length)


def lengths(graph: Graph, times: Times) -> Ints:
    """Length of each step between its bounds on the host; of the whole stretch without steps."""
    if graph.are_steps:
        rows = pairs(times.start[graph.starts], times.start[graph.ends])
    else:
        rows = stretch(graph, times)
    spent: Ints = rows[:, 1] - rows[:, 0]
    return spent


def stretch(graph: Graph, times: Times) -> Ints:
    """From the first call or work to the last as one row, because a window's bounds are the profiler's and not the program's.

    Without calls and work, from bound to bound.
    """
    calls = graph.kind != MARK
    if not calls.any() and not len(times.work_start):
        return np.array([[times.start[0], times.end[-1]]], dtype=np.int64)
    first = np.concatenate((times.start[calls], times.work_start)).min()
    last = np.concatenate((times.end[calls], times.work_end)).max()
    return np.array([[first, last]], dtype=np.int64)


def completions(graph: Graph, times: Times) -> Ints:
    """From the start of each step to the end of the last device work launched in it, shape ``(steps,)``.

    For a step that launched nothing, to its end on the host.
    """
    begin = times.start[graph.starts]
    last = times.start[graph.ends].copy()
    step = graph.step_of_work
    inside = step != NONE
    if inside.any():
        reach = np.full(len(begin), np.iinfo(np.int64).min)
        np.maximum.at(reach, step[inside], times.work_end[inside])
        launched = reach > np.iinfo(np.int64).min
        last[launched] = reach[launched]
    spent: Ints = last - begin
    return spent
