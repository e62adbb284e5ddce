"""Small messages sent one by one, and what they would take as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from stepscope.predict.graph import COMMUNICATION, COMPUTE, NONE
from stepscope.predict.moved import kinds, sizes
from stepscope.trace import intervals as iv

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace

SMALL_BYTES = 1 << 20
"""Up to here a message takes about as long as the shortest one: NCCL's latency is some ten microseconds, in which a
link of 50 GB/s carries half a megabyte."""

JOINABLE = ("all-reduce", "reduce-scatter", "all-gather", "broadcast")
"""Kinds of which several messages can be sent as one."""

LEAST_RUN = 4
"""Fewer in a row are not worth joining."""

LEAST_OF_ALL = 0.5
"""Where less of the communication is such messages, it is slow for another reason."""

LEAST_SAVED, MOST_SAVED = 0.5, 1.0
"""Share of what all but one of them take that joining saves: what is latency nobody tells from one size alone."""


class SmallMessages(Struct, frozen=True, eq=False):
    """Messages that could be sent as one.

    Attributes:
        work: Which, shape ``(work,)``.
        least, most: The graph with them joined, as it turns out at least and at most.
    """

    work: Bools
    least: Graph
    most: Graph


def small_messages(trace: Trace, graph: Graph) -> SmallMessages | None:
    """Small messages of one kind, group and step, between which the device computes nothing.

    What computes between two messages may need the first and make the second, as in tensor parallelism; such
    messages cannot be joined. ``None`` without any in a row of at least ``LEAST_RUN``, and where they are less
    than half of the communication's time.
    """
    table = _table(trace, graph)
    runs = [run for run in _runs(table, _computing(graph)) if len(run) >= LEAST_RUN]
    if not runs:
        return None
    work = np.zeros(len(graph.sort), dtype=np.bool_)
    for run in runs:
        work[run] = True
    moves = graph.sort == COMMUNICATION
    if graph.length[work].sum() < LEAST_OF_ALL * graph.length[moves].sum():
        return None
    least, most = (_joined(graph, runs, saved) for saved in (LEAST_SAVED, MOST_SAVED))
    return SmallMessages(work, least, most)


def _table(trace: Trace, graph: Graph) -> pl.DataFrame:
    """Small messages in order of start, with the row of the graph."""
    rows = np.flatnonzero(graph.sort == COMMUNICATION)
    moved = trace.device[graph.table_row[rows]]
    named = moved.select(
        "device",
        pl.col("group_name").fill_null("").alias("group"),
        kind=kinds(moved),
        bytes=sizes(moved),
        row=pl.Series(rows),
        step=pl.Series(graph.step_of_work[rows]),
        start=pl.Series(graph.begun[rows]),
        end=pl.Series(graph.begun[rows] + graph.length[rows]),
    )
    is_small = (pl.col("bytes") <= SMALL_BYTES) & pl.col("kind").is_in(JOINABLE)
    return named.filter(is_small & (pl.col("step") != NONE)).sort("start", maintain_order=True)


def _computing(graph: Graph) -> Ints:
    own = graph.sort == COMPUTE
    return iv.union(iv.pairs(graph.begun[own], graph.begun[own] + graph.length[own]))


def _runs(table: pl.DataFrame, computing: Ints) -> list[Ints]:
    """Rows of the graph of messages that follow each other with nothing computed between."""
    found = []
    for _, own in table.group_by("kind", "group", "device", "step", maintain_order=True):
        start, end = (own[name].to_numpy() for name in ("start", "end"))
        between = iv.pairs(end[:-1], np.maximum(start[1:], end[:-1]))
        cuts = np.flatnonzero(iv.measure(computing, between) > 0) + 1
        found += np.split(own["row"].to_numpy(), cuts)
    return found


def _joined(graph: Graph, runs: list[Ints], saved: float) -> Graph:
    """Each run takes what one of its messages takes, and of the others what is not saved."""
    length, launches = graph.length.copy(), np.zeros(len(graph.own), dtype=np.bool_)
    for run in runs:
        keeps = run[np.argmax(length[run])]
        others = run[run != keeps]
        length[others] = np.rint(length[others] * (1 - saved)).astype(np.int64)
        if saved == MOST_SAVED:
            launches[graph.launch[others][graph.launch[others] != NONE]] = True
    return replace(graph, length=length, own=np.where(launches, 0, graph.own))
