"""Ranks of a recorded job that ended before their recorder could finish, or left nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.notice import Notice
from stepscope.trace.ranks import absent

if TYPE_CHECKING:
    from stepscope.schema.run_folder import RankFolder, RunFolder


def lost_ranks(run: RunFolder) -> list[Notice]:
    """One notice for each rank that died, and one for those that left nothing; none while the job runs.

    A recorder that could not finish belongs to a process that was killed, by a signal, for its memory or
    with its machine. While no rank has finished, all of them may still run, and nothing is said.
    """
    finished = [one for one in run.ranks if one.recording and one.recording.complete]
    if not finished and run.manifest.state != "finished":
        return []
    notices = [_died(one) for one in run.ranks if one not in finished]
    world = max((one.recording.world_size for one in run.ranks if one.recording), default=0)
    count, first = absent(world, {one.rank for one in run.ranks})
    if count:
        named = ", ".join(map(str, first))
        more = f" and {count - len(first)} more" if count > len(first) else ""
        text = f"Nothing was recorded of rank {named}{more} of {world}: the process never came so far, or died before."
        notices.append(Notice(code="rank-absent", count=count, text=text))
    return notices


def _died(one: RankFolder) -> Notice:
    steps = sum(row.count for row in one.steps)
    when = f"after {steps:,} recorded steps" if steps else "before its first step was recorded"
    left = "what it recorded until then is analysed" if one.trace else "it left no trace to analyse"
    text = f"It died {when} (ended by a signal, for its memory, or with its machine); {left}."
    return Notice(code="rank-died", count=1, text=text, rank=one.rank)
