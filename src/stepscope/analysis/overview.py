"""The classic overview of the TensorBoard plugin, as an exclusive cover of each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.schema.report import OVERVIEW_PARTS
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace


class Overview(Struct, frozen=True, eq=False):
    """The classic overview of every step.

    Attributes:
        parts: ``OVERVIEW_PARTS``, in order of priority: where several happen at once, the first counts.
        ns: Nanoseconds, shape ``(steps, parts)``; rows as in the partition, each sums to its step.
    """

    parts: tuple[str, ...]
    ns: Ints


def run(trace: Trace) -> Overview:
    """Covers every step by kernels, copies, sets, communication, calls, loader, operators and the rest.

    Kernels that move data between ranks count as communication, as in the TensorBoard plugin; so do
    collectives that the host carries out itself.
    """
    host, device, scope = trace.host, trace.device, scope_of(trace)
    kind = device.get_column("kind").cast(pl.String)
    moves = device.get_column("is_communication")
    transfers = call_names.matching(host, call_names.HOST_TRANSFER, call_names.RANGES)
    covers = (
        iv.of(device.filter(kind.is_in(["kernel", "accelerator"]) & ~moves)),
        iv.of(device.filter((kind == "memcpy") & ~moves)),
        iv.of(device.filter((kind == "memset") & ~moves)),
        iv.union(iv.of(device.filter(moves)), iv.of(host.filter(transfers))),
        iv.of(host.filter(call_names.of_kind(host, *call_names.CALLS))),
        iv.of(host.filter(call_names.loader_waits(host))),
        iv.of(host.filter(call_names.operators(host))),
    )
    out = np.zeros((len(scope.bounds), len(OVERVIEW_PARTS)), dtype=np.int64)
    taken = iv.NONE
    for column, cover in enumerate(covers):
        before = iv.measure(taken, scope.bounds)
        taken = iv.union(taken, cover)
        out[:, column] = iv.measure(taken, scope.bounds) - before
    out[:, -1] = scope.lengths_ns - out.sum(axis=1)
    return Overview(OVERVIEW_PARTS, out)


ANALYSIS = Analysis(
    "overview", run, "The classic overview: kernel, copies, communication, calls, loader."
)
