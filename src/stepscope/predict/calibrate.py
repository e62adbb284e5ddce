"""Taking the profiler's own weight out of a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from stepscope.predict.change import slower_host, with_input
from stepscope.predict.period import step_ns
from stepscope.predict.simulate import simulate

if TYPE_CHECKING:
    from stepscope.predict.replay import Replay
    from stepscope.predict.source import CleanSteps, Setting

LEAST_FRAC = 0.02
"""A smaller difference between profiled and clean steps is within their spread."""

LOWEST_FACTOR, HIGHEST_FACTOR = 0.25, 4.0
"""The profiler is not taken to slow the host more than four times, nor the few steps in its window to be faster
than the many outside by more."""

LEAST_WAIT = 0.05
"""With less waiting for batches than this share of the steps, their median is the better figure."""

ROUNDS = 12
"""Halvings of the interval, which leave the factor known to a fifth of a thousandth."""


def calibrated(base: Replay, setting: Setting, *, pauses: bool = True) -> Replay:
    """The replay with waits and host as they were without the profiler.

    The profiler costs the host time at every operator and call, while device work takes as long as ever
    and waiting is not work. So the host's own time is scaled until the replayed step is as long as the
    steps that ran without a profiler. When no factor explains the difference, the replay stays as it was.

    Where steps wait for their batches, a window of a few steps sees few of the bunches in which batches
    arrive. Then the waits are scaled to their mean over the many steps without a profiler, and the step
    is their mean too.

    Args:
        base: The unchanged replay.
        setting: What the recorder measured.
        pauses: Whether long pauses between operators are scaled too: without stacks, the profiler costs Python that
            calls no operator nothing, while other programs on the machine slow all alike.
    """
    clean = setting.clean
    if clean is not None and waits_count(clean) and base.graph.are_steps:
        # Where a device sets the pace, a slower host explains nothing.
        highest = 1.0 if len(base.graph.launch) else HIGHEST_FACTOR
        waits = with_input(base.graph, clean.wait_ns)
        base = replace(base, graph=waits, times=simulate(waits))
        return _host_scaled(base, clean.mean_ns, highest, pauses=pauses)
    if setting.clean_step_ns is None:
        return base
    return _host_scaled(base, setting.clean_step_ns, 1.0, pauses=pauses)


def clean_ns(setting: Setting) -> float | None:
    """The step without the profiler that a replay is held against; ``None`` where none was timed."""
    clean = setting.clean
    return clean.mean_ns if clean is not None and waits_count(clean) else setting.clean_step_ns


def waits_count(clean: CleanSteps) -> bool:
    """Whether waiting for batches is enough of the steps to be what makes them uneven."""
    return clean.wait_ns >= LEAST_WAIT * clean.mean_ns


def _host_scaled(base: Replay, clean_ns: float, highest: float, *, pauses: bool) -> Replay:
    """The replay with the host scaled by a factor up to the highest, so that a step lasts so long."""

    def scaled(factor: float) -> tuple[Replay, float]:
        graph = slower_host(base.graph, factor, pauses=pauses)
        times = simulate(graph)
        return replace(base, graph=graph, times=times), step_ns(graph, times)

    now = step_ns(base.graph, base.times)
    low, high = LOWEST_FACTOR, highest
    if abs(now / clean_ns - 1) <= LEAST_FRAC or (now < clean_ns and highest <= 1):
        return base
    if scaled(low)[1] > clean_ns or scaled(high)[1] < clean_ns * (1 - LEAST_FRAC):
        return base
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if scaled(middle)[1] > clean_ns else (middle, high)
    return scaled(low)[0]
