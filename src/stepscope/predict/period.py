"""How long a step takes in the long run, read from a replay of a few steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.predict.replay import completions, lengths, stretch
from stepscope.trace.intervals import pairs

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.predict.simulate import Times
    from stepscope.trace.intervals import Ints


class Pace(Struct, frozen=True, eq=False):
    """The steady steps of a replay as the slower of host and device sets them.

    Attributes:
        bounds: Where each begins and ends, ns, shape ``(n, 2)``: on the host from mark to mark, on the device from
            the end of the work of one step to that of the next. Without steps, the whole stretch as one row.
        on_device: Whether the device sets the pace.
    """

    bounds: Ints
    on_device: bool

    @property
    def step_ns(self) -> float:
        """The mean step."""
        return float((self.bounds[:, 1] - self.bounds[:, 0]).mean())


def pace_of(graph: Graph, times: Times) -> Pace:
    """Which of the two sets the pace in the long run.

    Within a few steps the host can run ahead of the device by a step, so that its own period would
    promise too much; in the long run the slower of the two sets the pace. The device's period is the
    distance between the ends of the work of consecutive steps.

    Args:
        graph: What was replayed.
        times: The replay.
    """
    if not graph.are_steps:
        return Pace(stretch(graph, times), on_device=False)
    steady = np.flatnonzero(graph.is_steady)
    start = times.start[graph.starts]
    host = Pace(pairs(start[steady], times.start[graph.ends[steady]]), on_device=False)
    if not len(graph.launch):
        return host
    ends = start + completions(graph, times)
    later = _followers(graph)
    rows = pairs(ends[later - 1], ends[later]) if len(later) else pairs(start, ends)[steady]
    device = Pace(rows, on_device=True)
    return device if device.step_ns > host.step_ns else host


def step_ns(graph: Graph, times: Times) -> float:
    """Mean time per steady step; without steps, the whole stretch."""
    return pace_of(graph, times).step_ns


def spread_frac(graph: Graph, before: Times, after: Times) -> float:
    """Standard error of the mean of the steps' gains, relative; 0 below three steady steps."""
    steady = np.flatnonzero(graph.is_steady)
    if not graph.are_steps or len(steady) < 3:
        return 0.0
    was, now = lengths(graph, before)[steady], lengths(graph, after)[steady]
    ratios = was / np.maximum(now, 1)
    return float(ratios.std(ddof=1) / np.sqrt(len(ratios)) / ratios.mean())


def _followers(graph: Graph) -> Ints:
    """Steady steps that directly follow another steady step."""
    start, end = graph.origin[graph.starts], graph.origin[graph.ends]
    apart = start[1:] - end[:-1]
    near = apart < 0.5 * np.median(end - start)
    both = graph.is_steady[1:] & graph.is_steady[:-1]
    return (np.flatnonzero(near & both) + 1).astype(np.int64)
