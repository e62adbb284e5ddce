"""The times of each part of a step: exclusive covers, whatever windows are measured with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.schema.report import DEVICE_PARTS, HOST_PARTS
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.idle import blocking_calls, idle_of, of_profiler
from stepscope.trace.scope import windows_of
from stepscope.trace.training_thread import training_thread
from stepscope.units import NS_PER_MS

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace


class PartCovers(Struct, frozen=True, eq=False):
    """Which times belong to which part.

    Attributes:
        parts: ``DEVICE_PARTS`` with a device timeline, else ``HOST_PARTS``.
        covers: One set for each part, disjoint from the others; the last part has none, it takes the rest.
    """

    parts: tuple[str, ...]
    covers: tuple[Ints, ...]

    def measure(self, windows: Ints) -> Ints:
        """Time of each part inside windows, which may overlap.

        Args:
            windows: Shape ``(n, 2)``, ns.

        Returns:
            Shape ``(n, parts)``; each row sums to the length of its window exactly.
        """
        out = np.zeros((len(windows), len(self.parts)), dtype=np.int64)
        for column, cover in enumerate(self.covers):
            out[:, column] = iv.measure(cover, windows)
        out[:, -1] += windows[:, 1] - windows[:, 0] - out.sum(axis=1)
        return out


def part_covers(trace: Trace) -> PartCovers:
    """The covers of a rank; an earlier one takes what a later one shares."""
    has_device = bool(trace.gpu_recorded) and len(trace.device) > 0
    parts: tuple[str, ...] = DEVICE_PARTS if has_device else HOST_PARTS
    owned = dict.fromkeys(parts, iv.NONE)
    taken = iv.NONE
    for name, cover in _device_covers(trace) if has_device else _host_covers(trace):
        owned[name] = iv.subtract(cover, taken)
        taken = iv.union(taken, owned[name])
    return PartCovers(parts, tuple(owned[part] for part in parts))


def _device_covers(trace: Trace) -> list[tuple[str, Ints]]:
    """The times of each part, in order of priority: an earlier one takes what a later one shares."""
    host, device = trace.host, trace.device
    kind = device.get_column("kind").cast(pl.String)
    moves = device.get_column("is_communication")
    idle = idle_of(trace)
    main = training_thread(host)
    waits = call_names.loader_waits(host)
    if main is not None:
        waits &= main.rows(host)
    allocates = call_names.matching(host, call_names.ALLOCATOR, call_names.CALLS)
    return [
        ("compute", iv.of(device.filter(kind.is_in(["kernel", "accelerator"]) & ~moves))),
        ("communication", iv.of(device.filter(moves))),
        ("copy", iv.of(device.filter(kind.is_in(["memcpy", "memset"])))),
        ("input", iv.of(host.filter(waits))),
        ("allocator", iv.of(host.filter(allocates))),
        ("sync", idle.refills),
        # The host had launched the next work in time: what the device did then is not recorded.
        ("unknown", iv.union(idle.gaps[idle.is_queued], _waiting_for_nothing(trace, idle.refills))),
        ("other_rank", _waiting_for_ranks(trace)),
        ("host", _host_at_work(trace)),
    ]


def _waiting_for_nothing(trace: Trace, refills: Ints) -> Ints:
    """Blocking calls of a millisecond and more outside the refills.

    The host waits for the device there; where the device shows no work, that work was not recorded.
    """
    calls = trace.host.filter(blocking_calls(trace))
    calls = calls.filter(calls["end_ns"] - calls["start_ns"] >= NS_PER_MS)
    return iv.subtract(iv.of(calls), refills)


def _waiting_for_ranks(trace: Trace) -> Ints:
    """Collectives that the host carries out, while the training thread has nothing else to do."""
    host = trace.host
    transfers = iv.of(
        host.filter(call_names.matching(host, call_names.HOST_TRANSFER, call_names.RANGES))
    )
    main = training_thread(host)
    if main is None or not len(transfers):
        return transfers
    # The engine's own ranges only enclose: its hooks wait for collectives inside them.
    encloses = call_names.matching(
        host, f"{call_names.COLLECTIVE}|{call_names.ENGINE}", call_names.RANGES
    )
    works = main.rows(host) & call_names.operators(host) & ~encloses
    return iv.subtract(transfers, iv.of(host.filter(works)))


def _host_at_work(trace: Trace) -> Ints:
    """The host between its first and last event of each window; without operators its calls alone.

    Python between operators leaves no event of its own, so with operators recorded the time between
    them is the host's.
    """
    host = trace.host
    calls = call_names.of_kind(host, *call_names.CALLS) & ~of_profiler(trace)
    operators = call_names.operators(host)
    if not operators.any():
        return iv.of(host.filter(calls))
    busy = iv.of(host.filter(calls | operators | call_names.of_kind(host, "annotation")))
    inside = [iv.clip(busy, start, end) for start, end in windows_of(trace).tolist()]
    hulls = [(part[0, 0], part[-1, 1]) for part in inside if len(part)]
    return iv.union(np.array(hulls, dtype=np.int64).reshape(-1, 2))


def _host_covers(trace: Trace) -> list[tuple[str, Ints]]:
    """The parts of the training thread, in order of priority."""
    host = trace.host
    main = training_thread(host)
    if main is None:
        return []
    on_main = main.rows(host)

    def ranges(pattern: str) -> Bools:
        return call_names.matching(host, pattern, call_names.RANGES)

    operators = call_names.operators(host)
    collective, backward = ranges(call_names.COLLECTIVE), ranges(call_names.BACKWARD)
    works = iv.of(host.filter(on_main & operators & ~collective))
    # On other threads the same counts only while the training thread waits for it.
    elsewhere = iv.of(host.filter(~on_main & backward))
    return [
        ("input", iv.of(host.filter(on_main & call_names.loader_waits(host)))),
        (
            "communication",
            iv.union(iv.of(host.filter(on_main & collective)), _waiting_for_ranks(trace)),
        ),
        ("optimizer", iv.of(host.filter(on_main & ranges(call_names.OPTIMIZER)))),
        (
            "backward",
            iv.union(iv.of(host.filter(on_main & backward)), iv.subtract(elsewhere, works)),
        ),
        (
            "forward",
            iv.union(works, iv.of(host.filter(on_main & ranges(call_names.FORWARD_RANGE)))),
        ),
    ]
