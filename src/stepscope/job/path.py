"""The job's critical path, as the collectives of all ranks show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.schema.job_report import PathShare

if TYPE_CHECKING:
    from stepscope.job.result import Job
    from stepscope.trace.intervals import Ints

MOST = 8


def path_shares(job: Job) -> tuple[PathShare, ...]:
    """What the length of the steady steps consists of: whose work, and how much transfer.

    The path is walked back from the end of the last collective. From the end of a collective on a rank to what
    the rank does next, its work is the path; inside a collective, the transfer is, from the arrival of the
    last rank to the end; there the path goes over to that rank, which all had waited for. Calls that are
    hidden on a rank hold up nothing there and are passed over. This is the backward replay of D. Boehme et
    al., Scalable Critical-Path Based Performance Analysis, IPDPS 2012 (https://doi.org/10.1109/IPDPS.2012.120),
    with collectives as the only dependence between ranks.
    """
    walk = _Walk(job)
    work, transfer = walk.run()
    total = int(work.sum()) + transfer
    if total <= 0:
        return ()
    most = np.argsort(-work, kind="stable")[:MOST]
    shares = [
        PathShare(rank=job.numbers[place], share=float(work[place]) / total)
        for place in most.tolist()
        if work[place] > 0
    ]
    shares.append(PathShare(rank=None, share=transfer / total))
    return tuple(sorted(shares, key=lambda one: -one.share))


class _Walk:
    """Calls of steady steps on each rank in order of their ends."""

    def __init__(self, job: Job) -> None:
        events = job.steady_events.select("match", "last", last_ns="arrival_ns")
        calls = (
            job.waits.calls.filter(pl.col("exposed_ns") > 0)
            .join(events, on="match", how="inner")
            .sort("place", "end_ns", "match")
        )
        self._end = calls["end_ns"].to_numpy()
        self._last = calls["last"].to_numpy()
        self._last_ns = calls["last_ns"].to_numpy()
        self._ranks = len(job.numbers)
        self._starts = np.searchsorted(calls["place"].to_numpy(), np.arange(self._ranks + 1))

    def run(self) -> tuple[Ints, int]:
        """Work of each rank on the path, shape ``(ranks,)``, and transfer on it, ns."""
        work, transfer = np.zeros(self._ranks, dtype=np.int64), 0
        if not len(self._end):
            return work, transfer
        left = self._starts[1:].copy()
        place = int(np.searchsorted(self._starts, int(self._end.argmax()), side="right")) - 1
        now = int(self._end.max())
        while True:
            first = self._starts[place]
            # A call is left behind once, so that the walk ends whatever the clocks say.
            at = int(np.searchsorted(self._end[first : left[place]], now, side="right")) - 1
            if at < 0:
                return work, transfer
            left[place] = first + at
            end, arrived = int(self._end[first + at]), int(self._last_ns[first + at])
            work[place] += now - end
            transfer += max(end - arrived, 0)
            now, place = min(arrived, end), int(self._last[first + at])
