"""From the comparison of ranks to the report's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.job.bandwidth import algorithm_gb_s, bus_factor
from stepscope.job.grouping import all_calls
from stepscope.job.outliers import outliers
from stepscope.job.overlap import buckets, overlap
from stepscope.job.path import path_shares
from stepscope.job.pipeline import pipeline
from stepscope.job.straggler import cause_of
from stepscope.job.waits import by_step
from stepscope.schema.job_report import (
    CollectiveRow,
    HostClock,
    JobReport,
    LateRow,
    StragglerRow,
)
from stepscope.units import format_frac, ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.job.digest import RankDigest
    from stepscope.job.grouping import CallGroup
    from stepscope.job.result import Job

LEAST_STARTUP = 0.1
"""From this share of a window on, first calls are said."""

MOST_LATE = 10
"""So many late arrivals are told one by one."""


def job_report(ranks: Sequence[RankDigest], job: Job, comparison: str) -> JobReport:
    """The report's part about the job.

    Args:
        ranks: The ranks by position.
        job: Their comparison.
        comparison: The sentence about the late rank's work.
    """
    uncertain = job.clocks.uncertainty_ns
    everything = all_calls(ranks)
    waited = by_step(job.waits, len(ranks), list(job.steps))
    return JobReport(
        ranks=job.numbers,
        steps=job.steps,
        wait_ms=tuple(tuple(ns_to_ms(ns) for ns in row) for row in waited.tolist()),
        own_ms=tuple(
            _own(one, row, job.steps) for one, row in zip(ranks, waited.tolist(), strict=True)
        ),
        clocks=_clocks(ranks, job),
        clock_uncertainty_ms=None if uncertain is None else ns_to_ms(uncertain),
        collectives=_collectives(job),
        late=_late(job),
        outliers=outliers(ranks),
        path=path_shares(job),
        straggler=_straggler(ranks, job, comparison),
        cannot_tell=(*_startup(ranks, job), *_cannot_tell(job)),
        overlap=overlap(everything, job.steps),
        buckets=buckets(everything, job.waits, job.steps),
        pipeline=pipeline(everything, job.numbers, job.steps, [_length(one, job) for one in ranks]),
    )


def _length(one: RankDigest, job: Job) -> int:
    """Length of a rank's steady steps together, without steps of its window."""
    spread = one.results.spread
    chosen = np.isin(spread.numbers, job.steps) if job.steps else np.ones(len(spread.numbers), bool)
    return int(spread.durations_ns[chosen].sum())


def _own(one: RankDigest, waited: list[int], steps: Sequence[int]) -> tuple[float | None, ...]:
    spread = one.results.spread
    lengths = dict(zip(spread.numbers.tolist(), spread.durations_ns.tolist(), strict=True))
    return tuple(
        ns_to_ms(lengths[step] - wait) if step in lengths else None
        for step, wait in zip(steps, waited, strict=True)
    )


def _clocks(ranks: Sequence[RankDigest], job: Job) -> tuple[HostClock, ...]:
    hosts: dict[str | None, list[int]] = {}
    for place, one in enumerate(ranks):
        if job.clocks.island[place] >= 0:
            hosts.setdefault(one.host_name, []).append(int(job.clocks.offset_ns[place]))
    return tuple(
        HostClock(host=host, ranks=len(found), offset_ms=ns_to_ms(float(np.median(found))))
        for host, found in hosts.items()
    )


def _collectives(job: Job) -> tuple[CollectiveRow, ...]:
    steady = job.steady_events.with_columns(
        moving_ns=pl.when(pl.col("transfer_ns") > (job.clocks.uncertainty_ns or 0)).then(
            "transfer_ns"
        )
    )
    rows = steady.group_by("group_id", "kind", maintain_order=True).agg(
        pl.len().alias("count"),
        pl.sum("wait_ns", "exposed_ns"),
        (pl.sum("spent_ns") - pl.sum("wait_ns")).alias("transfer_ns"),
        pl.max("transfer_ns").alias("longest_ns"),
        pl.col("spread_ns").get(pl.col("transfer_ns").arg_max()).alias("longest_wait_ns"),
        pl.when(pl.col("bytes").null_count() == 0).then(pl.sum("bytes")).alias("bytes"),
        pl.col("bytes").filter(pl.col("moving_ns").is_not_null()).sum().alias("moved"),
        pl.sum("moving_ns"),
    )
    made = [_row(job.groups[one["group_id"]], one) for one in rows.iter_rows(named=True)]
    return tuple(sorted(made, key=lambda row: (-row.waiting_ms, -row.transfer_ms, row.group)))


def _row(group: CallGroup, one: dict[str, int]) -> CollectiveRow:
    kind, size = str(one["kind"]), len(group.places)
    algorithm = algorithm_gb_s(one["moved"] or 0, one["moving_ns"] or 0)
    factor = bus_factor(kind, size)
    return CollectiveRow(
        group=group.name,
        description=group.description,
        kind=kind,
        ranks=size,
        count=one["count"],
        waiting_ms=ns_to_ms(one["wait_ns"]),
        transfer_ms=ns_to_ms(one["transfer_ns"]),
        exposed_ms=ns_to_ms(one["exposed_ns"]),
        longest_ms=ns_to_ms(one["longest_ns"]),
        longest_waiting_ms=ns_to_ms(one["longest_wait_ns"]),
        bytes=one["bytes"],
        algorithm_gb_s=algorithm,
        bus_gb_s=None if algorithm is None or factor is None else algorithm * factor,
    )


def _late(job: Job) -> tuple[LateRow, ...]:
    found = job.blame
    if found is None:
        return ()
    longest = np.sort(np.argsort(-found.spread_ns, kind="stable")[:MOST_LATE])
    return tuple(
        LateRow(
            step=int(found.step[row]) if found.step[row] >= 0 else None,
            kind=found.kind[row],
            group=job.groups[int(found.group_id[row])].name,
            rank=job.numbers[int(found.last[row])],
            culprit=job.numbers[int(found.culprit[row])],
            late_ms=ns_to_ms(int(found.spread_ns[row])),
            cause=cause_of(found.parts, found.excess_ns[row]),
            first_call_ms=0.0 if found.first_ns is None else ns_to_ms(int(found.first_ns[row])),
        )
        for row in longest.tolist()
    )


def _straggler(ranks: Sequence[RankDigest], job: Job, comparison: str) -> StragglerRow | None:
    late = job.straggler
    if late is None:
        return None
    one = ranks[late.place]
    return StragglerRow(
        rank=job.numbers[late.place],
        is_named=late.is_named,
        host=one.host_name,
        device=one.report.device,
        node=late.node,
        share=late.share,
        times=late.times,
        steps=late.steps,
        all_steps=late.all_steps,
        pattern=late.pattern,
        loss_ms=ns_to_ms(late.loss_ns / max(late.all_steps, 1)),
        loss_frac=job.loss_frac,
        cause=late.cause,
        comparison=comparison,
        first_call_ms=ns_to_ms(late.first_ns),
    )


def _startup(ranks: Sequence[RankDigest], job: Job) -> tuple[str, ...]:
    """Without steps, first calls cannot be left out of the comparison, so they are said."""
    share = max(one.results.startup.share for one in ranks)
    if job.steps or share < LEAST_STARTUP:
        return ()
    text = (
        f"First calls (loading of kernels, set-up, compilation) fill up to {format_frac(share)} of a rank's window; "
        "lateness may be theirs and vanish in the steady state."
    )
    return (text,)


def _cannot_tell(job: Job) -> tuple[str, ...]:
    """What stands in the way of comparing, in words."""
    said = []
    missing = [group for group in job.matched.incomplete if group.size != len(group.places)]
    if missing:
        first = missing[0]
        of = f" of {first.size}" if first.size else ""
        said.append(
            f"{len(missing)} process group(s) are not there in full (in one, {len(first.places)}{of} ranks were "
            "recorded): in those, transfer and waiting cannot be told apart."
        )
    if job.matched.unmatched:
        said.append(
            f"{job.matched.unmatched} calls have no partner on another rank (windows of different steps, or messages "
            "between two ranks of a larger group) and are not compared."
        )
    if len(job.matched.calls) and job.clocks.uncertainty_ns is None:
        said.append(
            "No collective was recorded that all ranks leave together, so that the clocks of the ranks cannot be "
            "aligned and nobody is called late."
        )
    if int(job.clocks.island.max(initial=0)) > 0:
        said.append(
            f"Ranks fall into {int(job.clocks.island.max()) + 1} sets without a collective between them; their clocks "
            "are not compared."
        )
    return tuple(said)
