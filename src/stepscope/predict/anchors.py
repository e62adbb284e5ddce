"""Anchors: the host events that a replay keeps, and the gaps between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.predict.graph import LAUNCH, MARK, NONE, PAUSE, REST, WAIT, WAIT_ALL
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.idle import blocking_calls
from stepscope.trace.scope import scope_of
from stepscope.trace.training_thread import training_thread

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace

HANDOVER_NS = 20_000
"""A pause of a thread this long may be one in which it waits for another thread."""


LONG_PAUSE_NS = 200_000
"""Between two operators of a model PyTorch's own Python takes some tens of microseconds. A longer pause is
work of the program itself, which can be moved; the short ones go only with the operators. In the optimizer the
longer ones are PyTorch's own too: on the CPU its step and ``zero_grad`` were seen to take 0.25 ms before the first operator."""

LONG_COPY_NS = 50_000
"""A copy shorter than this may lie inside its call by chance."""


class Anchors(Struct, frozen=True, eq=False):
    """Anchors of all threads in order of their start; arrays have shape ``(anchors,)`` unless said.

    Attributes:
        row: Row in the table ``host``, ``NONE`` for the bounds of steps.
        kind: See ``predict.graph``.
        thread: Row of ``threads``; bounds of steps belong to the training thread.
        start, end: Measured, ns.
        starts, ends: Anchors at which each step (else each window) starts and ends, shape ``(steps,)``.
        owner: The anchor that contains each row of ``host``, ``NONE`` for none, shape ``(host,)``.
        threads: Process and thread ids, shape ``(threads, 2)``.
    """

    row: Ints
    kind: Ints
    thread: Ints
    start: Ints
    end: Ints
    starts: Ints
    ends: Ints
    owner: Ints
    threads: Ints


def anchors_of(trace: Trace) -> Anchors:
    """Launches, blocking calls and bounds of steps; of nested calls the outermost."""
    host = trace.host
    rows, kind = _calls(trace)
    bounds = scope_of(trace).bounds
    main = training_thread(host)
    ids = iv.pairs(*(host.get_column(name).to_numpy()[rows] for name in ("pid", "tid")))
    first = [[main.pid, main.tid]] if main else []
    distinct = np.unique(ids, axis=0).tolist()
    threads = np.array(first + [one for one in distinct if one not in first] or [[0, 0]])
    thread = np.argmax((ids[:, None, :] == threads[None, :, :]).all(axis=2), axis=1)
    start, end = (host.get_column(name).to_numpy()[rows] for name in ("start_ns", "end_ns"))
    order = np.lexsort((-end, start, thread))
    rows, kind, thread, start, end = (a[order] for a in (rows, kind, thread, start, end))
    outer = _outermost(thread, end, start)
    group = np.cumsum(outer) - 1
    reach = np.full(int(outer.sum()), np.iinfo(np.int64).min)
    np.maximum.at(reach, group, end)
    marks = bounds.reshape(-1)
    none = np.full(len(marks), NONE)
    sequence = np.argsort(np.concatenate((start[outer], marks)), kind="stable")
    place = np.empty_like(sequence)
    place[sequence] = np.arange(len(sequence))
    owner = np.full(len(host), NONE, dtype=np.int64)
    owner[rows] = place[group]
    at_bounds = place[len(reach) :]

    def merged(of_calls: Ints, of_marks: Ints) -> Ints:
        both: Ints = np.concatenate((of_calls, of_marks)).astype(np.int64)[sequence]
        return both

    return Anchors(
        row=merged(rows[outer], none),
        kind=merged(kind[outer], np.full(len(marks), MARK)),
        thread=merged(thread[outer], np.zeros_like(none)),
        start=merged(start[outer], marks),
        end=merged(reach, marks),
        starts=at_bounds[0::2],
        ends=at_bounds[1::2],
        owner=owner,
        threads=threads,
    )


def _calls(trace: Trace) -> tuple[Ints, Ints]:
    """Rows of ``host`` that launch device work or wait for it, and their kinds."""
    host = trace.host
    launches = np.zeros(len(host), dtype=np.bool_)
    launches[trace.device.get_column("launch").drop_nulls().to_numpy()] = True
    blocks = np.zeros_like(launches)
    if len(trace.device):
        blocks = blocking_calls(trace) | _copies_with_host(trace)
    rows = np.flatnonzero(launches | blocks)
    whole = call_names.matching(host, call_names.DEVICE_SYNCHRONIZE, call_names.CALLS)
    kind = np.where(blocks[rows], np.where(whole[rows], WAIT_ALL, WAIT), LAUNCH)
    return rows, kind.astype(np.int64)


def _copies_with_host(trace: Trace) -> Bools:
    """Copy calls in which the host took part in most of the copy.

    From pageable memory the host hands the last piece over some microseconds before the copy ends, so
    that such a call may return before its own work does.
    """
    out = np.zeros(len(trace.host), dtype=np.bool_)
    copies = trace.device.filter(
        pl.col("kind").cast(pl.String).eq("memcpy") & pl.col("launch").is_not_null()
    )
    launch = copies["launch"].to_numpy()
    returned = trace.host["end_ns"].to_numpy()[launch]
    begun, end = copies["start_ns"].to_numpy(), copies["end_ns"].to_numpy()
    long = end - begun > LONG_COPY_NS
    out[launch[long & (returned > begun + (end - begun) // 2)]] = True
    return out


def _outermost(thread: Ints, end: Ints, start: Ints) -> Bools:
    """Rows, sorted by thread and start, that begin after all earlier ones of their thread have ended."""
    outer = np.ones(len(thread), dtype=np.bool_)
    for number in np.unique(thread):
        own = np.flatnonzero(thread == number)
        reach = np.maximum.accumulate(end[own])
        outer[own[1:]] = start[own[1:]] >= reach[:-1]
    return outer


def predecessors(anchors: Anchors) -> Ints:
    """The anchor that each anchor follows, shape ``(anchors,)``, ``NONE`` for the first of all.

    That is the one before it on its thread, unless the thread paused while another thread of the
    process worked and went on when that one stopped: then it waited for it, as the training thread
    waits for autograd's, and follows the other's last anchor.
    """
    after = np.full(len(anchors.start), NONE, dtype=np.int64)
    for number in range(len(anchors.threads)):
        own = np.flatnonzero(anchors.thread == number)
        after[own[1:]] = own[:-1]
        others = np.flatnonzero(
            (anchors.thread != number)
            & (anchors.kind != MARK)
            & (anchors.threads[anchors.thread, 0] == anchors.threads[number, 0])
        )
        if len(own) and len(others):
            _hand_over(anchors, own, others, after)
    return after


def _hand_over(anchors: Anchors, own: Ints, others: Ints, after: Ints) -> None:
    """Lets anchors of one thread follow anchors of others where the thread waited for them."""
    ended = others[np.argsort(anchors.end[others], kind="stable")]
    at = np.searchsorted(anchors.end[ended], anchors.start[own], side="right") - 1
    before = ended[np.maximum(at, 0)]
    begun = np.searchsorted(anchors.start[others], anchors.start[own], side="left")
    # Another anchor that is still running when this one starts is not waited for.
    finished = np.searchsorted(anchors.end[ended], anchors.start[own], side="right")
    previous = after[own]
    free_since = np.where(previous == NONE, np.iinfo(np.int64).min, anchors.end[previous])
    waited = (at >= 0) & (begun == finished) & (anchors.end[before] > free_since)
    waited &= anchors.start[own] - np.maximum(free_since, 0) > HANDOVER_NS
    after[own[waited]] = before[waited]


def gaps_of(host: pl.DataFrame, anchors: Anchors, after: Ints) -> Ints:
    """Time before each anchor since the end of the one it follows, split by what its thread did.

    Returns:
        Shape ``(anchors, 5)``, ns, columns as named in ``predict.graph``. Rows sum to the measured
        distance, which is slightly negative where events overlap; then all of it is the rest.
    """
    out = np.zeros((len(anchors.start), 5), dtype=np.int64)
    since = np.where(after == NONE, anchors.start, anchors.end[after])
    spans = iv.pairs(since, np.maximum(anchors.start, since))
    covers = (
        call_names.loader_waits(host),
        call_names.matching(host, call_names.ALLOCATOR, call_names.CALLS),
        call_names.operators(host),
    )
    start, end, pid, tid = (
        host.get_column(name).to_numpy() for name in ("start_ns", "end_ns", "pid", "tid")
    )
    of_optimizer = call_names.matching(host, call_names.OPTIMIZER, call_names.RANGES)
    for number, (process, name) in enumerate(anchors.threads.tolist()):
        own = np.flatnonzero(anchors.thread == number)
        on_thread = (pid == process) & (tid == name)
        taken = iv.NONE
        for column, cover in enumerate(covers):
            rows = on_thread & cover
            part = iv.subtract(iv.union(iv.pairs(start[rows], end[rows])), taken)
            out[own, column] = iv.measure(part, spans[own])
            taken = iv.union(taken, part)
        rows = on_thread & of_optimizer
        taken = iv.union(taken, iv.pairs(start[rows], end[rows]))
        bare = iv.subtract(iv.union(spans[own]), taken)
        out[own, PAUSE] = iv.measure(bare[bare[:, 1] - bare[:, 0] >= LONG_PAUSE_NS], spans[own])
    out[:, REST] = anchors.start - since - out[:, :REST].sum(axis=1)
    return out
