"""Taking the profiler's own weight out of a replay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stepscope.predict.change import slower_host
from stepscope.predict.period import step_ns
from stepscope.predict.simulate import simulate

if TYPE_CHECKING:
    from stepscope.predict.replay import Replay

LEAST_FRAC = 0.02
"""A smaller difference between profiled and clean steps is within their spread."""

LOWEST_FACTOR = 0.25
"""The profiler is not taken to slow the host more than four times."""

ROUNDS = 12
"""Halvings of the interval, which leave the factor known to a fifth of a thousandth."""


def calibrated(base: Replay, clean_step_ns: float | None) -> Replay:
    """The replay with the host as fast as it must be without the profiler.

    The profiler costs the host time at every operator and call, while device work takes as long as ever
    and waiting is not work. So the host's own time is scaled until the replayed step is as long as the
    steps that ran without a profiler. When no factor explains the difference, the replay stays as it was.

    Args:
        base: The unchanged replay.
        clean_step_ns: Median step without a profiler; ``None`` when not measured.
    """
    if clean_step_ns is None:
        return base
    now = step_ns(base.graph, base.times)
    low, high = LOWEST_FACTOR, 1.0
    if now <= clean_step_ns * (1 + LEAST_FRAC):
        return base
    if _with_factor(base, low)[1] > clean_step_ns:
        return base
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if _with_factor(base, middle)[1] > clean_step_ns else (middle, high)
        )
    return _with_factor(base, low)[0]


def _with_factor(base: Replay, factor: float) -> tuple[Replay, float]:
    graph = slower_host(base.graph, factor)
    times = simulate(graph)
    return replace(base, graph=graph, times=times), step_ns(graph, times)
