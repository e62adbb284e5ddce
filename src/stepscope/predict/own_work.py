"""What the program's own Python between operators costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepscope.predict import change
from stepscope.predict.graph import ALLOCATOR, PAUSE, REST
from stepscope.predict.whatif import gain, outcome
from stepscope.trace import call_names

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.predict.replay import Replay
    from stepscope.schema.report import Gain
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace

COLD_NS = 650_000
"""The work behind an interruption takes up to so much longer than without one, because caches were filled with something
else: 0.2 to 0.65 ms behind 2.5 ms of Python or ``torch.save``, in the CPU time of three models with steps of 1 to 8 ms on an
AMD EPYC with 1 MiB of second-level cache a core; three with steps of 50 to 60 ms gave -0.2 to 2.4 ms, within their noise."""

MOST_COLD = 0.4
"""No more than this share of the operators' time is taken to be that; these models showed 0.38 at most."""


def python_gain(trace: Trace, base: Replay, other: Replay) -> Gain | None:
    """The program's own work in long pauses between operators is gone.

    At the low end nothing else changes. At the high end the profiler cost only the operators their time, so that the
    pauses are a larger share of a step without it, and what follows a pause finds its data in the caches. Where pauses
    are mostly short, nobody can tell the program's Python from PyTorch's, and all of it goes at the high end.

    Args:
        trace: The rank's tables.
        base: The replay without the profiler's weight, which lay on all that the host does.
        other: The same when it lay on all but the pauses.

    Returns:
        The gain; ``None`` too where ranks talk by way of the host: in any pause the thread may wait for them.
    """
    if call_names.matching(trace.host, call_names.HOST_TRANSFER, call_names.RANGES).any():
        return None
    own = change.without_gaps(base.graph, PAUSE)
    quick = warm(change.without_gaps(other.graph, PAUSE), in_steps(other.graph, PAUSE))
    ways = [own, quick]
    rest, pauses = (int(base.graph.gaps[:, column].sum()) for column in (REST, PAUSE))
    if rest > pauses:
        ways.append(change.without_gaps(base.graph, PAUSE, REST))
    return gain(base, [outcome(base, way) for way in ways])


def warm(graph: Graph, interrupted: Ints) -> Graph:
    """The host's work when nothing interrupts a step: its operators find their data in the caches.

    Args:
        graph: The graph without the interruptions.
        interrupted: How long they were in each steady step, ns; a short one leaves caches as they are.
    """
    inside = np.isin(graph.step_of_anchor, np.flatnonzero(graph.is_steady))
    working = int(graph.gaps[inside, ALLOCATOR:].sum() + graph.own[inside].sum())
    cold = int(np.minimum(interrupted, COLD_NS).sum())
    if working <= 0:
        return graph
    return change.slower_host(graph, 1 - min(cold / working, MOST_COLD))


def in_steps(graph: Graph, column: int) -> Ints:
    """What the host spends in a column of ``gaps`` in each steady step, ns."""
    step = graph.step_of_anchor
    known = step >= 0
    spent = np.zeros(len(graph.starts), dtype=np.int64)
    np.add.at(spent, step[known], graph.gaps[known, column])
    return spent[graph.is_steady]
