"""Device work that lasts longer than its stream allows, or than anything else was recorded."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

OVERRUN_NS = 100_000
SUCCESSORS = 4
ALONE_NS = 1_000_000_000
ALONE_SHARE = 0.9


def clip(device: pl.DataFrame, host_end_ns: int | None) -> tuple[pl.DataFrame, int]:
    """Shortens work whose end cannot be true.

    Kernels of one stream overlap by microseconds for good reasons (programmatic dependent launch,
    graphs); durations of seconds across many successors are overflows of the vendor's clock. So work is
    cut where the next one begins when it overruns the start of its fourth successor on the stream by over
    100 µs; on a stream with such work already when it overruns the next by as much. The last one of such
    a stream, and one that alone makes up over 90 % of the recording (and a second), is cut where everything
    else ends.

    Args:
        device: Table DEVICE, sorted.
        host_end_ns: Where the host's last event ends; None without host events.

    Returns:
        The table with such work shortened, and how many rows there were.
    """
    start, end = device["start_ns"].to_numpy(), device["end_ns"].to_numpy()
    stream = device.select(pl.struct("device", "stream").rank("dense"))["device"].to_numpy()
    order = np.argsort(stream, kind="stable")
    new = end[order].copy()
    _clip_streams(stream[order], start[order], new, _horizon(start, host_end_ns))
    clipped = np.empty_like(new)
    clipped[order] = new
    _clip_alone(start, clipped, host_end_ns)
    count = int((clipped != end).sum())
    return (device.with_columns(end_ns=pl.Series(clipped)) if count else device), count


def _horizon(start: Ints, host_end_ns: int | None) -> int:
    last = int(start.max())
    return last if host_end_ns is None else max(last, host_end_ns)


def _clip_streams(stream: Ints, start: Ints, end: Ints, horizon: int) -> None:
    """Changes ``end``; rows come stream by stream in order of their start."""
    count = len(start)
    following, later = _successor(stream, start, 1), _successor(stream, start, SUCCESSORS)
    has_next, has_later = following >= 0, later >= 0
    overruns = has_later & (end - later > OVERRUN_NS)
    if not overruns.any():
        return
    faulty = np.zeros(int(stream.max()) + 1, np.bool_)
    faulty[stream[overruns]] = True
    overruns |= faulty[stream] & has_next & (end - following > OVERRUN_NS)
    end[overruns] = following[overruns]
    is_last = np.append(stream[1:] != stream[:-1], True) if count else has_next
    beyond = faulty[stream] & is_last & (end - horizon > OVERRUN_NS)
    end[beyond] = np.maximum(start[beyond], horizon)


def _successor(stream: Ints, start: Ints, steps: int) -> Ints:
    """Start of the event so many places later on the same stream, -1 where there is none."""
    found = np.full(len(start), -1, np.int64)
    if len(start) > steps:
        same = stream[steps:] == stream[:-steps]
        found[:-steps] = np.where(same, start[steps:], -1)
    return found


def _clip_alone(start: Ints, end: Ints, host_end_ns: int | None) -> None:
    """Changes ``end`` of the one event that reaches far beyond all others."""
    if len(end) < 2:
        return
    last = int(np.argmax(end))
    others = int(np.delete(end, last).max())
    if host_end_ns is not None:
        others = max(others, host_end_ns)
    alone = int(end[last]) - max(others, int(start[last]))
    if alone > ALONE_NS and alone > ALONE_SHARE * (int(end[last]) - int(start.min())):
        end[last] = max(others, int(start[last]))
