"""What-ifs: a graph with one thing changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from stepscope.predict.graph import (
    ALLOCATOR,
    COMMUNICATION,
    INPUT,
    LAUNCH,
    NONE,
    OPERATOR,
    PAUSE,
    REST,
    TO_DEVICE,
    WAIT,
    WAIT_ALL,
)
from stepscope.predict.work import before_on_stream

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.intervals import Bools, Floats


def without_input(graph: Graph) -> Graph:
    """The next batch is always there."""
    return without_gaps(graph, INPUT)


def with_input(graph: Graph, wait_ns: float) -> Graph:
    """A steady step waits for its batches so long in the mean, spread over its waits as before."""
    steady = np.flatnonzero(graph.is_steady)
    inside = np.isin(graph.step_of_anchor, steady)
    now = float(graph.gaps[inside, INPUT].sum()) / max(len(steady), 1)
    gaps = graph.gaps.copy()
    if now > 0:
        gaps[:, INPUT] = np.rint(gaps[:, INPUT] * (wait_ns / now)).astype(np.int64)
    else:
        # None of the few steps had to wait: their beginnings take the mean.
        gaps[np.minimum(graph.starts[steady] + 1, len(gaps) - 1), INPUT] += round(wait_ns)
    return replace(graph, gaps=gaps)


def without_gaps(graph: Graph, *columns: int) -> Graph:
    """What the host does in these columns of ``gaps`` takes no time."""
    gaps = graph.gaps.copy()
    gaps[:, list(columns)] = 0
    return replace(graph, gaps=gaps)


def slower_host(graph: Graph, factor: float, *, pauses: bool = True) -> Graph:
    """All that the host does by itself takes ``factor`` times as long; waiting does not.

    Args:
        graph: The graph.
        factor: Below 1 for a faster one.
        pauses: Whether that holds for long pauses between operators too.
    """
    gaps = graph.gaps.astype(np.float64)
    as_long = gaps[:, PAUSE].copy()
    gaps[:, ALLOCATOR:] *= factor
    if not pauses:
        gaps[:, PAUSE] = as_long
    own = graph.own * factor
    return replace(graph, gaps=np.rint(gaps).astype(np.int64), own=np.rint(own).astype(np.int64))


def blocking_copies(graph: Graph) -> Bools:
    """Anchors that are copies to the device for which the host waits, shape ``(anchors,)``."""
    waits = (graph.kind == WAIT) & (graph.wait != NONE)
    work = np.maximum(graph.wait, 0)
    out = np.zeros(len(graph.kind), dtype=np.bool_)
    if len(graph.launch):
        own = graph.launch[work] == np.arange(len(graph.kind))
        out = waits & own & (graph.sort[work] == TO_DEVICE)
    return out


def without_waiting(graph: Graph, calls: Bools) -> Graph:
    """The given blocking calls launch what they launch and go on.

    The synchronisation that PyTorch puts behind a blocking copy goes with it.
    """
    kind = np.where(calls, LAUNCH, graph.kind)
    return replace(graph, kind=kind.astype(np.int64), wait=np.where(calls, NONE, graph.wait))


def synchronisations(graph: Graph) -> Bools:
    """Anchors that wait for the device without being copies to it, shape ``(anchors,)``."""
    calls = (graph.kind == WAIT) | (graph.kind == WAIT_ALL)
    copied = np.zeros(len(graph.launch) + 1, dtype=np.bool_)
    copies = blocking_copies(graph)
    copied[graph.wait[copies]] = True
    # A wait for a copy that the host has waited for already belongs to the copy.
    behind = calls & (graph.wait != NONE) & copied[graph.wait]
    out: Bools = calls & ~copies & ~behind
    return out


def copies_overlapped(graph: Graph) -> Graph:
    """Copies to the device come from pinned memory, run on a stream of their own and were asked for early.

    Nobody waits for them; that they take turns among themselves stays.
    """
    copies = graph.sort == TO_DEVICE
    calls = blocking_copies(graph)
    behind = (graph.kind == WAIT) & np.isin(graph.wait, np.flatnonzero(copies))
    own_stream = np.where(copies, graph.stream.max(initial=0) + 1, graph.stream)
    free = without_waiting(graph, calls | behind)
    needs = np.where(np.isin(graph.needs, np.flatnonzero(copies)), NONE, graph.needs)
    return replace(free, stream=own_stream.astype(np.int64), needs=np.where(copies, NONE, needs))


def copies_pinned(graph: Graph) -> Graph:
    """Copies to the device come from pinned memory and do not block, but stay in their stream."""
    copies = np.flatnonzero(graph.sort == TO_DEVICE)
    behind = (graph.kind == WAIT) & np.isin(graph.wait, copies)
    return without_waiting(graph, blocking_copies(graph) | behind)


def launches_free(graph: Graph, *, python: bool) -> Graph:
    """Operators and launches cost the host nothing, as when they are captured or compiled.

    Args:
        graph: The graph.
        python: Whether the Python between operators goes too, as in a graph of the whole step. Long pauses
            stay: they are work of the program that no graph captures.
    """
    gaps = graph.gaps.copy()
    gaps[:, OPERATOR] = 0
    if python:
        gaps[:, REST] = 0
    own = np.where(graph.kind == LAUNCH, 0, graph.own)
    return replace(graph, gaps=gaps, own=own, depth=0)


def faster(graph: Graph, work: Bools, factor: float | Floats) -> Graph:
    """Some device work takes ``1 / factor`` of its time.

    Args:
        graph: The graph.
        work: Which, shape ``(work,)``.
        factor: One for all, or one each of shape ``(work,)``.
    """
    length = np.where(work, np.rint(graph.length / factor), graph.length)
    return replace(graph, length=length.astype(np.int64))


def communication_hidden(graph: Graph, *, last_stays: bool) -> Graph:
    """Nobody waits for communication.

    Args:
        graph: The graph.
        last_stays: Whether the last piece of each step is waited for as before, because the gradients
            that it carries are ready only when the backward pass is over.
    """
    moves = graph.sort == COMMUNICATION
    rows = np.flatnonzero(moves)
    stays = np.zeros(len(rows), dtype=np.bool_)
    if last_stays:
        step = graph.step_of_work[rows]
        stays[:-1] = step[1:] != step[:-1]
        stays[-1:] = True
    hidden = rows[~stays]
    needs = np.where(np.isin(graph.needs, hidden), NONE, graph.needs)
    before = before_on_stream(graph.stream)
    # On a stream of its own, communication still follows the work that made what it sends, and
    # what used to follow the pieces that stay still waits for them.
    needs[rows] = np.where(needs[rows] == NONE, before[rows], needs[rows])
    behind = np.flatnonzero(np.isin(before, rows[stays]) & ~moves)
    needs[behind] = np.maximum(needs[behind], before[behind])
    waits = (graph.kind == WAIT) & np.isin(graph.wait, hidden)
    own_stream = np.where(moves, graph.stream.max(initial=0) + 1, graph.stream)
    free = without_waiting(graph, waits)
    return replace(free, stream=own_stream.astype(np.int64), needs=needs.astype(np.int64))
