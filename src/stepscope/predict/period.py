"""How long a step takes in the long run, read from a replay of a few steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepscope.predict.replay import completions, lengths

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.predict.simulate import Times
    from stepscope.trace.intervals import Ints


def step_ns(graph: Graph, times: Times) -> float:
    """Mean time per steady step, as the slower of host and device sets it.

    Within a few steps the host can run ahead of the device by a step, so that its own period would
    promise too much; in the long run the slower of the two sets the pace. The device's period is the
    distance between the ends of the work of consecutive steps. Without steps it is the whole stretch.

    Args:
        graph: What was replayed.
        times: The replay.
    """
    spent = lengths(graph, times)
    if not graph.are_steps:
        return float(spent.sum())
    steady = np.flatnonzero(graph.is_steady)
    host = float(spent[steady].mean())
    if not len(graph.launch):
        return host
    done = completions(graph, times)
    later = _followers(graph)
    if not len(later):
        return max(host, float(done[steady].mean()))
    ends = times.start[graph.starts] + done
    return max(host, float((ends[later] - ends[later - 1]).mean()))


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
