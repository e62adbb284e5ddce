"""Which host thread runs the training loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.trace import call_names
from stepscope.trace.remembered import remembered

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools


class Thread(Struct, frozen=True):
    """A host thread.

    Attributes:
        pid: Process id.
        tid: Thread id.
    """

    pid: int
    tid: int

    def rows(self, host: pl.DataFrame) -> Bools:
        """For each row of ``host``, whether it ran on this thread."""
        same = (host.get_column("pid") == self.pid) & (host.get_column("tid") == self.tid)
        return np.asarray(same.to_numpy(), dtype=np.bool_)


def training_thread(host: pl.DataFrame) -> Thread | None:
    """The thread with the profiler's steps, else the optimizer, else the loader, else most forward work.

    Operators of the backward pass do not count: with a device they fill a thread of their own.
    ``None`` when nothing but Python frames or nothing at all was recorded on the host.
    """
    return remembered(host, "training thread", lambda: _training_thread(host))


def _training_thread(host: pl.DataFrame) -> Thread | None:
    if host.is_empty():
        return None
    ranges = call_names.RANGES
    work = call_names.operators(host) & ~call_names.matching(host, call_names.BACKWARD, ranges)
    work &= ~(host.get_column("forward_thread").fill_null(0) > 0).to_numpy()
    votes = host.select(
        "pid",
        "tid",
        steps=pl.Series(call_names.matching(host, call_names.PROFILER_STEP, ranges)),
        optimizer=pl.Series(call_names.matching(host, call_names.OPTIMIZER, ranges)),
        loader=pl.Series(call_names.loader_waits(host)),
        work_ns=pl.col("self_ns") * pl.Series(work).cast(pl.Int64),
        calls=pl.Series(call_names.of_kind(host, *call_names.CALLS, "annotation")),
    )
    scores = votes.group_by("pid", "tid").agg(pl.exclude("pid", "tid").sum())
    scores = scores.sort(
        ["steps", "optimizer", "loader", "work_ns", "calls", "pid", "tid"],
        descending=[True] * 5 + [False] * 2,
    )
    best = scores.row(0, named=True)
    if not any(best[key] for key in ("steps", "optimizer", "loader", "work_ns", "calls")):
        return None
    return Thread(best["pid"], best["tid"])
