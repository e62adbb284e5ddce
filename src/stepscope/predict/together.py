"""How long every collective would take when all ranks arrived together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.analysis.results import Results
    from stepscope.predict.graph import Graph
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace


def shortest_calls(ranks: Sequence[Results]) -> tuple[Ints, ...] | None:
    """For each rank, the shortest duration that any rank saw of each of its collectives, ns.

    A collective ends for all ranks together, so the rank that came last saw it without waiting. Calls
    are matched by name, group and order, as in ``analysis.waiting``.

    Returns:
        One array for each rank, its calls in order of start; ``None`` where calls do not match.
    """
    if len(ranks) < 2 or not len(ranks[0].communication.calls):
        return None
    spent = [one.communication.calls[:, 1] - one.communication.calls[:, 0] for one in ranks]
    names = [np.array(one.communication.call_names) for one in ranks]
    out = [one.copy() for one in spent]
    for name in np.unique(names[0]):
        where = [np.flatnonzero(one == name) for one in names]
        if len({len(rows) for rows in where}) != 1:
            return None
        least = np.min([own[rows] for own, rows in zip(spent, where, strict=True)], axis=0)
        for own, rows in zip(out, where, strict=True):
            own[rows] = least
    return tuple(out)


def arriving_together(trace: Trace, graph: Graph, shortest_ns: Ints) -> Graph:
    """Every collective takes only its transfer.

    Args:
        trace: The rank's tables.
        graph: Its graph.
        shortest_ns: As :func:`shortest_calls` gives it for this rank.
    """
    moves: Bools = trace.device.get_column("is_communication").to_numpy().astype(np.bool_)
    by_row = trace.device["end_ns"].to_numpy() - trace.device["start_ns"].to_numpy()
    by_row[np.flatnonzero(moves)] = shortest_ns
    length = np.where(moves[graph.table_row], by_row[graph.table_row], graph.length)
    return replace(graph, length=length.astype(np.int64))
