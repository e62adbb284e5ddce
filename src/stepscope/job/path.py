"""The job's critical path, as the collectives of all ranks show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepscope.schema.job_report import PathShare

if TYPE_CHECKING:
    from stepscope.job.result import Job

MOST = 8


def path_shares(job: Job) -> tuple[PathShare, ...]:
    """Whom all ranks waited for, and how long.

    From the end of one collective of all ranks to the arrival of the last rank at the next, that rank's
    work is the critical path; from there to the end, the transfer is. What goes on beside a transfer on
    other ranks is not seen, so that this is the path between meetings and not inside a rank.
    """
    whole = [n for n, group in enumerate(job.groups) if len(group.places) == len(job.numbers)]
    events = job.waits.events.filter(job.waits.events["group_id"].is_in(whole)).sort("end_ns")
    if len(events) < 2:
        return ()
    end = np.maximum.accumulate(events["end_ns"].to_numpy())
    before, arrival, last = (
        end[:-1],
        events["arrival_ns"].to_numpy()[1:],
        events["last"].to_numpy()[1:],
    )
    work = np.clip(np.minimum(arrival, end[1:]) - before, 0, None)
    transfer = int((end[1:] - before - work).sum())
    total = int(end[-1] - end[0])
    if not total:
        return ()
    held = np.bincount(last, work, len(job.numbers))
    most = np.argsort(-held, kind="stable")[:MOST]
    shares = [
        PathShare(rank=job.numbers[place], share=float(held[place]) / total)
        for place in most.tolist()
        if held[place] > 0
    ]
    shares.append(PathShare(rank=None, share=transfer / total))
    return tuple(sorted(shares, key=lambda one: -one.share))
