"""How much of the communication hides behind compute, by process group and by message of a step.

A call is *hidden* while anything else runs on the rank's device (on the CPU: in its training thread), and
*exposed* while nothing does; waiting for the last rank counts like transfer, because both stop the rank.
The messages of a step are what DistributedDataParallel calls buckets: it reduces gradients in buckets while the
backward pass goes on, so that all but the last can hide (S. Li et al., PyTorch Distributed, VLDB 2020, section
3.2.3, https://arxiv.org/abs/2006.15704; https://pytorch.org/docs/stable/notes/ddp.html).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from stepscope.schema.job_report import BucketRow, OverlapRow
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.job.grouping import AllCalls, CallGroup
    from stepscope.job.waits import Waits

MOST_BUCKETS = 64
"""So many messages of a step are told, those with most exposed time."""


def overlap(everything: AllCalls, steps: tuple[int, ...]) -> tuple[OverlapRow, ...]:
    """One row a process group, most exposed first; calls that run side by side count each for itself.

    Args:
        everything: Collectives of all ranks, matched or not.
        steps: Numbers of the steady steps; empty for all calls that are not start-up.
    """
    calls = steady_calls(everything.calls, steps)
    rows = calls.group_by("group_id", maintain_order=True).agg(
        pl.len().alias("count"), pl.sum("ns", "exposed_ns"), pl.n_unique("place").alias("ranks")
    )
    per = max(len(steps), 1)
    made = [
        OverlapRow(
            group=everything.groups[one["group_id"]].name,
            description=everything.groups[one["group_id"]].description,
            ranks=one["ranks"],
            calls=one["count"] / one["ranks"] / per,
            ms=ns_to_ms(one["ns"] / one["ranks"] / per),
            exposed_ms=ns_to_ms(one["exposed_ns"] / one["ranks"] / per),
            hidden_frac=_hidden(one),
        )
        for one in rows.iter_rows(named=True)
    ]
    return tuple(sorted(made, key=lambda row: (-row.exposed_ms, row.group)))


def buckets(everything: AllCalls, waits: Waits, steps: tuple[int, ...]) -> tuple[BucketRow, ...]:
    """One row a message of a step, in their order; none without steps, or with one message a step.

    Messages are told apart by their place in the order of a step's calls of one kind in one group; steps
    with another number of them than most are left out.

    Args:
        everything: Collectives of all ranks.
        waits: Waiting, where it is known.
        steps: Numbers of the steady steps.
    """
    if not steps:
        return ()
    waited = waits.calls.select("place", "row", "wait_ns")
    calls = steady_calls(everything.calls, steps).join(
        waited, on=["place", "row"], how="left", maintain_order="left"
    )
    step = ["group_id", "kind", "place", "step"]
    numbered = calls.sort("place", "start_ns", maintain_order=True).with_columns(
        number=pl.int_range(pl.len()).over(step), of=pl.len().over(step)
    )
    usual = numbered.group_by("group_id", "kind").agg(pl.col("of").mode().max().alias("usual"))
    kept = numbered.join(usual, on=["group_id", "kind"], how="left").filter(
        (pl.col("of") == pl.col("usual")) & (pl.col("usual") > 1)
    )
    rows = kept.group_by("group_id", "kind", "number", "of").agg(
        pl.len().alias("count"),
        pl.sum("ns", "exposed_ns"),
        pl.when(pl.col("wait_ns").null_count() == 0)
        .then(pl.sum("wait_ns"))
        .first()
        .alias("wait_ns"),
        pl.median("bytes").cast(pl.Int64),
    )
    most = rows.sort("exposed_ns", descending=True).head(MOST_BUCKETS)
    ordered = most.sort("group_id", "kind", "number")
    return tuple(
        _bucket(everything.groups[one["group_id"]], one) for one in ordered.iter_rows(named=True)
    )


def steady_calls(calls: pl.DataFrame, steps: tuple[int, ...]) -> pl.DataFrame:
    """The calls of steady steps, with their length as ``ns``."""
    inside = (
        pl.col("step").is_in(list(steps)).fill_null(value=False) if steps else ~pl.col("is_startup")
    )
    return calls.filter(inside).with_columns(ns=pl.col("end_ns") - pl.col("start_ns"))


def _bucket(group: CallGroup, one: dict[str, int]) -> BucketRow:
    count = one["count"]
    return BucketRow(
        group=group.name,
        description=group.description,
        kind=str(one["kind"]),
        number=one["number"] + 1,
        of=one["of"],
        bytes=one["bytes"],
        ms=ns_to_ms(one["ns"] / count),
        exposed_ms=ns_to_ms(one["exposed_ns"] / count),
        waiting_ms=None if one["wait_ns"] is None else ns_to_ms(one["wait_ns"] / count),
        hidden_frac=_hidden(one),
    )


def _hidden(one: dict[str, int]) -> float:
    return max(0.0, 1 - one["exposed_ns"] / one["ns"]) if one["ns"] else 0.0
