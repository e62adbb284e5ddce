"""The device's half of the graph: work in order of its launch, and what each piece waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.predict.graph import COMMUNICATION, COMPUTE, NONE, OTHER_COPY, TO_DEVICE
from stepscope.trace import call_names
from stepscope.trace.scope import windows_of

if TYPE_CHECKING:
    from stepscope.predict.anchors import Anchors
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace

STREAM_WAIT = r"StreamWaitEvent"
"""The call that lets a stream wait for an event of another; which ones is not recorded."""

SKEW_NS = 5_000
"""Device times are mapped to the host's clock with an error of some microseconds."""

IDLE_NS = 20_000
"""A stream that was empty this long waited for the launch, not for the work before."""

QUEUED_NS = 50_000
"""Work launched this long before it starts waited for the stream, not for the launch."""

USUAL_LAG_NS, USUAL_SPACE_NS = 8_000, 1_000
"""Launch latency and space between kernels where a trace has too few to measure, as seen on V100 to B200."""

UNEXPLAINED_NS = 10_000
"""A start this much later than launch and stream explain has another reason, such as an event."""


LATE_COPY_NS = 200_000
"""The same for a copy, for which the host may fill a buffer first."""


class Work(Struct, frozen=True, eq=False):
    """Device work in order of its launch; that of unknown launch comes first in its window.

    Attributes are those of ``predict.graph.Graph`` and:

    Attributes:
        end: Measured end, ns.
        found_free: Whether its stream had been empty for a while when it started.
        lag_ns: The typical lag.
    """

    table_row: Ints
    launch: Ints
    sort: Ints
    stream: Ints
    begun: Ints
    end: Ints
    space: Ints
    needs: Ints
    found_free: Bools
    lag_ns: int


def work_of(trace: Trace, anchors: Anchors) -> Work:
    """All device work of the trace with its order and dependencies."""
    device = trace.device
    start, end = (device.get_column(name).to_numpy() for name in ("start_ns", "end_ns"))
    rows = device.get_column("launch").fill_null(NONE).to_numpy()
    # Work without a launch takes the entry behind the last; a window of device work alone has no owner.
    launch = np.append(anchors.owner, NONE)[rows].astype(np.int64)
    windows = windows_of(trace)
    window = np.clip(np.searchsorted(windows[:, 0], start, side="right") - 1, 0, None)
    since = np.where(launch == NONE, windows[window, 0] - 1, anchors.start[launch])
    order = np.lexsort((start, launch, since))
    begun, end, launch = start[order], end[order], launch[order]
    streams = device.select("device", "stream").to_numpy()[order].astype(np.int64)
    _, stream = np.unique(streams, axis=0, return_inverse=True)
    stream = np.asarray(stream, dtype=np.int64).reshape(-1)
    before = before_on_stream(stream)
    free = np.where(before == NONE, np.iinfo(np.int64).min // 2, end[before])
    called = np.where(launch == NONE, begun, anchors.start[launch])
    sort = _sorts(device)[order]
    lag_ns, space_ns = _typical(begun - called, begun - free, (launch != NONE) & (sort == COMPUTE))
    same_call = (before != NONE) & (launch == launch[before]) & (launch != NONE)
    overlap = begun < free
    space = np.where(same_call | overlap, begun - free, space_ns).astype(np.int64)
    space[before == NONE] = space_ns
    explained = np.maximum(called + lag_ns, free + space)
    waits = _event_waits(trace, anchors, launch)
    unexplained = np.where(sort <= COMMUNICATION, UNEXPLAINED_NS, LATE_COPY_NS)
    late = (launch != NONE) & (begun - explained > unexplained)
    needs = _needs((begun, end, stream, streams[:, 0]), waits | (sort == COMMUNICATION), late)
    return Work(
        table_row=order.astype(np.int64),
        launch=launch,
        sort=sort,
        stream=stream,
        begun=begun,
        end=end,
        space=space,
        needs=needs,
        found_free=begun - free > IDLE_NS,
        lag_ns=lag_ns,
    )


def _sorts(device: pl.DataFrame) -> Ints:
    kind = device.get_column("kind").cast(pl.String)
    copies = kind.is_in(["memcpy", "memset"]).to_numpy()
    to_device = (device.get_column("direction").cast(pl.String) == "HtoD").fill_null(value=False)
    sort = np.where(copies, OTHER_COPY, COMPUTE)
    sort = np.where(to_device.to_numpy(), TO_DEVICE, sort)
    return np.where(device.get_column("is_communication").to_numpy(), COMMUNICATION, sort)


def before_on_stream(stream: Ints) -> Ints:
    """The work before each piece on its stream, ``NONE`` for the first."""
    by_stream = np.argsort(stream, kind="stable")
    before = np.full(len(stream), NONE, dtype=np.int64)
    same = stream[by_stream[1:]] == stream[by_stream[:-1]]
    before[by_stream[1:][same]] = by_stream[:-1][same]
    return before


def _typical(lag: Ints, space: Ints, counts: Bools) -> tuple[int, int]:
    """Median launch latency on an empty stream and median space on a full one."""
    lags = lag[counts & (space > IDLE_NS) & (lag >= 0) & (lag < 10 * IDLE_NS)]
    spaces = space[counts & (lag > QUEUED_NS) & (space >= 0) & (space < IDLE_NS)]
    return (
        int(np.median(lags)) if len(lags) >= 5 else USUAL_LAG_NS,
        int(np.median(spaces)) if len(spaces) >= 5 else USUAL_SPACE_NS,
    )


def _event_waits(trace: Trace, anchors: Anchors, launch: Ints) -> Bools:
    """Work that is the first which its thread launched after it told a stream to wait for an event."""
    host = trace.host
    out = np.zeros(len(launch), dtype=np.bool_)
    calls = np.flatnonzero(call_names.matching(host, STREAM_WAIT, call_names.CALLS))
    known = np.flatnonzero(launch != NONE)
    if not len(calls) or not len(known):
        return out
    times = host.get_column("start_ns").to_numpy()[calls]
    pid, tid = (host.get_column(name).to_numpy()[calls] for name in ("pid", "tid"))
    thread = anchors.thread[launch[known]]
    for number, (process, name) in enumerate(anchors.threads.tolist()):
        own = known[thread == number]
        mine = times[(pid == process) & (tid == name)]
        at = np.searchsorted(anchors.start[launch[own]], mine)
        out[own[at[at < len(own)]]] = True
    return out


def _needs(times: tuple[Ints, Ints, Ints, Ints], told: Bools, late: Bools) -> Ints:
    """The work of another stream of the device that must end first.

    Args:
        times: Start, end, stream and device of all work in order of launch.
        told: Work that was told to wait: what it waits for is the last work launched before on the
            stream whose last work ended latest before it started.
        late: Work that started late for no other reason: it waits for what ended right before it.
    """
    start, end, stream, device = times
    needs = np.full(len(start), NONE, dtype=np.int64)
    latest = np.full(len(start), np.iinfo(np.int64).min)
    for number in range(int(stream.max(initial=NONE)) + 1):
        own = np.flatnonzero(stream == number)
        others = np.flatnonzero((stream != number) & (device == device[own[0]]))
        if not len(others):
            continue
        asked = own[told[own]]
        for other in np.unique(stream[others]):
            rows = others[stream[others] == other]
            at = np.searchsorted(rows, asked) - 1
            last = rows[np.maximum(at, 0)]
            better = (at >= 0) & (end[last] <= start[asked] + SKEW_NS) & (end[last] > latest[asked])
            needs[asked[better]], latest[asked[better]] = last[better], end[last[better]]
        asked = own[late[own]]
        ended = others[np.argsort(end[others], kind="stable")]
        at = np.searchsorted(end[ended], start[asked] + SKEW_NS, side="right") - 1
        last = ended[np.maximum(at, 0)]
        fits = (at >= 0) & (start[asked] - end[last] < 2 * IDLE_NS) & (last < asked)
        needs[asked[fits]] = last[fits]
    return needs
