"""When no device of the rank worked, and which of it is the refill after a blocking call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.trace import ancestry, call_names
from stepscope.trace import intervals as iv
from stepscope.trace.remembered import remembered_of
from stepscope.trace.scope import windows_of
from stepscope.trace.training_thread import Thread, training_thread

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace

CLOCK_SKEW_NS = 10_000
"""Device times are mapped to the host's clock with an error of some microseconds."""

LATENCY_NS = 10_000
"""Time from launch to start on an idle device, where a trace has too few launches to measure it."""


class Idle(Struct, frozen=True, eq=False):
    """Gaps in the device's work.

    Attributes:
        gaps: Shape ``(n, 2)``, ns, a set, cut at the windows.
        launch: Row in ``host`` of the call that launched the work which ends the gap, shape ``(n,)``;
            -1 where it is not known or where the window ends first.
        is_queued: Whether that call had returned long before the gap began, so that the host did not
            cause the gap, shape ``(n,)``.
        blocked_by: Row in ``host`` of the blocking call during which the device ran dry, -1 for none,
            shape ``(n,)``.
        refill_ns: Part of the gap, from its start on, that the block explains: as long as the host was
            blocked, because without the block it would have been at most that much further.
    """

    gaps: Ints
    launch: Ints
    is_queued: Bools
    blocked_by: Ints
    refill_ns: Ints

    @property
    def refills(self) -> Ints:
        """The refills as a set."""
        starts = self.gaps[:, 0]
        return iv.union(iv.pairs(starts, starts + self.refill_ns))


def idle_of(trace: Trace) -> Idle:
    """The gaps between device work, over all devices of the rank, and the refills among them."""
    return remembered_of(trace, "idle", lambda: _idle_of(trace))


def _idle_of(trace: Trace) -> Idle:
    windows = windows_of(trace)
    busy = iv.of(trace.device)
    low, high = int(windows[:, 0].min()), int(windows[:, 1].max())
    gaps = iv.intersect(iv.complement(busy, low, high), iv.union(windows))
    work = _next_work(trace.device, gaps[:, 1])
    launches = trace.device.get_column("launch").fill_null(-1).to_numpy()
    launch = np.where(work >= 0, launches[work], -1).astype(np.int64)
    blocked_by, refill = _refills(trace, gaps, launch)
    refill[work < 0] = 0
    blocked_by[work < 0] = -1
    queued = _queued(trace.host, gaps, launch)
    return Idle(gaps, launch, queued & (blocked_by < 0), blocked_by, refill)


def blocking_calls(trace: Trace) -> Bools:
    """For each row of ``host``, whether the call kept the host waiting for the device.

    The outermost of nested calls counts. A copy that calls itself asynchronous blocks when it
    returns no earlier than its own device work ends, which is what pageable memory does. The
    synchronisation with which the profiler opens or closes a window is none of the program's.
    """
    return remembered_of(trace, "blocking calls", lambda: _blocking_calls(trace)).copy()


def _blocking_calls(trace: Trace) -> Bools:
    host = trace.host
    blocks = call_names.matching(host, call_names.BLOCKING, call_names.CALLS)
    blocks |= _outlasting_copies(trace)
    blocks &= ~of_profiler(trace)
    outer = ancestry.parents(host)
    outermost: Bools = blocks & ~np.append(blocks, False)[outer]
    return outermost


def _outlasting_copies(trace: Trace) -> Bools:
    host = trace.host
    copies = call_names.matching(host, call_names.COPY_CALL, call_names.CALLS)
    launch = trace.device.get_column("launch").fill_null(-1).to_numpy()
    end = trace.device.get_column("end_ns").to_numpy()
    linked = launch >= 0
    last = np.full(len(host), np.iinfo(np.int64).max)
    np.minimum.at(last, launch[linked], end[linked])
    outlasts: Bools = copies & (last <= host.get_column("end_ns").to_numpy())
    return outlasts


def of_profiler(trace: Trace) -> Bools:
    """Device synchronisations before the first or after the last operator or launch of their window."""
    host = trace.host
    found = call_names.matching(host, call_names.DEVICE_SYNCHRONIZE, call_names.CALLS)
    if not found.any():
        return found
    start = host.get_column("start_ns").to_numpy()
    work = call_names.of_kind(host, "operator")
    work |= call_names.matching(host, call_names.LAUNCH, call_names.CALLS)
    work |= call_names.matching(host, call_names.COPY_CALL, call_names.CALLS)
    times = start[work]
    windows = windows_of(trace)
    window = np.clip(np.searchsorted(windows[:, 0], start[found], side="right") - 1, 0, None)
    before = np.searchsorted(times, start[found])
    first = np.searchsorted(times, windows[window, 0])
    last = np.searchsorted(times, windows[window, 1])
    found[found] = (before <= first) | (before >= last)
    return found


def _next_work(device: pl.DataFrame, times: Ints) -> Ints:
    """Row of ``device`` that starts at each time, -1 where none does."""
    starts = device.get_column("start_ns").to_numpy()
    row = np.searchsorted(starts, times)
    inside = np.minimum(row, len(starts) - 1)
    return np.where((row < len(starts)) & (starts[inside] == times), inside, -1).astype(np.int64)


def _queued(host: pl.DataFrame, gaps: Ints, launch: Ints) -> Bools:
    known = launch >= 0
    if not known.any():
        return known
    start = host.get_column("start_ns").to_numpy()[launch]
    end = host.get_column("end_ns").to_numpy()[launch]
    on_idle_device = known & (start > gaps[:, 0])
    delays = np.maximum(gaps[on_idle_device, 1] - start[on_idle_device], 0)
    latency = float(np.median(delays)) if len(delays) >= 5 else LATENCY_NS
    queued: Bools = known & (end <= gaps[:, 0]) & (start + 2 * latency < gaps[:, 0])
    return queued


def _refills(trace: Trace, gaps: Ints, launch: Ints) -> tuple[Ints, Ints]:
    host = trace.host
    blocked_by = np.full(len(gaps), -1, dtype=np.int64)
    refill = np.zeros(len(gaps), dtype=np.int64)
    rows = np.flatnonzero(blocking_calls(trace))
    if not len(rows) or not len(gaps):
        return blocked_by, refill
    pid, tid = (host.get_column(name).to_numpy() for name in ("pid", "tid"))
    start, end = (host.get_column(name).to_numpy() for name in ("start_ns", "end_ns"))
    for is_main, thread in _launching_threads(trace):
        own = rows[(pid[rows] == thread.pid) & (tid[rows] == thread.tid)]
        if not len(own):
            continue
        at = np.searchsorted(start[own], gaps[:, 0], side="right") - 1
        call = own[np.maximum(at, 0)]
        hit = (at >= 0) & (end[call] + CLOCK_SKEW_NS >= gaps[:, 0])
        # The thread that launches next explains the gap; the training thread does so otherwise.
        by_next = (pid[launch] == thread.pid) & (tid[launch] == thread.tid) & (launch >= 0)
        hit &= by_next | is_main
        blocks = iv.union(iv.pairs(start[own], end[own]))
        later = iv.measure(blocks, iv.pairs(np.maximum(end[call], gaps[:, 0]), gaps[:, 1]))
        length = np.minimum(end[call] - start[call] + np.maximum(later, 0), gaps[:, 1] - gaps[:, 0])
        blocked_by[hit], refill[hit] = call[hit], length[hit]
    return blocked_by, refill


def _launching_threads(trace: Trace) -> list[tuple[bool, Thread]]:
    """The training thread first, marked so, then all others that launched device work."""
    launch = trace.device.get_column("launch").drop_nulls().unique()
    distinct = trace.host.select(pl.col("pid", "tid").gather(launch)).unique().sort("pid", "tid")
    main = training_thread(trace.host)
    others = [Thread(pid, tid) for pid, tid in distinct.iter_rows()]
    first = [(True, main)] if main else []
    return first + [(False, thread) for thread in others if thread != main]
