"""The comparison of ranks in sentences, the same for terminal and page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.report.words import part_word
from stepscope.units import format_frac, format_ms

if TYPE_CHECKING:
    from stepscope.schema.report import (
        BucketRow,
        JobReport,
        LateRow,
        OutlierRow,
        OverlapRow,
        PipelineReport,
    )

MOST_MESSAGES, MOST_STAGES = 4, 8
"""So many messages and stages stand in a sentence."""

PATTERNS = {
    "constant": "in nearly every step",
    "drifting": "drifting as steps go by",
    "irregular": "irregularly",
    "once": "in one step",
}


def straggler_words(job: JobReport) -> str:
    """Who caused most of the waiting, and whether that can be said."""
    late = job.straggler
    if late is None:
        return "no rank, beyond what the clocks leave uncertain"
    who = f"rank {late.rank}" if late.node is None else f"the ranks of {late.node}"
    where = f" on {late.host}" if late.host and late.node is None else ""
    if not late.is_named:
        return (
            f"no rank stands out; most often it is {who}{where}, which caused {format_frac(late.share)} of the waiting "
            f"in {late.times:,} collectives"
        )
    steps = f", to blame in {late.steps:,} of {late.all_steps:,} steps" if late.all_steps else ""
    pattern = f" ({PATTERNS[late.pattern]})" if late.pattern in PATTERNS else ""
    each = "a step" if late.all_steps else "in the window"
    cause = f"; before, it is longer than the others in: {_part(late.cause)}" if late.cause else ""
    of = "" if late.all_steps else " of it without first calls"
    first = (
        f"; {format_ms(late.first_call_ms)} of its lateness are first calls, which a steady step does not make"
        if late.first_call_ms
        else ""
    )
    return (
        f"{who}{where} caused {format_frac(late.share)} of the waiting{steps}{pattern}; the job loses "
        f"{format_ms(late.loss_ms)} {each} by it ({format_frac(late.loss_frac)}{of}){cause}{first}"
    )


def late_words(job: JobReport, row: LateRow) -> str:
    """One late arrival."""
    step = f"step {row.step}: " if row.step is not None else ""
    group = f" in group {row.group}" if row.group and len({r.group for r in job.late}) > 1 else ""
    cause = f", after more {_part(row.cause)}" if row.cause else ""
    cause += f" ({format_ms(row.first_call_ms)} of it first calls)" if row.first_call_ms else ""
    back = f", held up by rank {row.culprit}" if row.culprit != row.rank else ""
    return (
        f"{step}rank {row.rank} comes {format_ms(row.late_ms)} late to an {row.kind}{group}{cause}{back}"
        if row.kind[:1] in "ao"
        else f"{step}rank {row.rank} comes {format_ms(row.late_ms)} late to a {row.kind}{group}{cause}{back}"
    )


def path_words(job: JobReport) -> str:
    """Who holds the critical path between collectives."""
    shares = [
        f"{'transfer' if one.rank is None else f'rank {one.rank}'} {format_frac(one.share)}"
        for one in job.path[:4]
    ]
    return f"between collectives, what the others wait for: {', '.join(shares)}"


def overlap_words(row: OverlapRow, each: str) -> str:
    """Communication of a process group, hidden and exposed."""
    name = f"group {row.description or row.group}" if row.description or row.group else "all groups"
    return (
        f"{name}: {format_frac(row.hidden_frac)} of {format_ms(row.ms)} {each} is hidden, "
        f"{format_ms(row.exposed_ms)} has nothing beside it"
    )


def bucket_words(rows: tuple[BucketRow, ...]) -> str:
    """The messages of a step, of which the last ones hide least."""
    first = rows[0]
    parts = [
        f"{row.number} of {row.of} {format_ms(row.exposed_ms)} of {format_ms(row.ms)}"
        for row in sorted(rows, key=lambda row: -row.exposed_ms)[:MOST_MESSAGES]
    ]
    return f"{first.kind} by message of a step, exposed: {', '.join(parts)}"


def pipeline_words(found: PipelineReport, each: str) -> str:
    """Bubbles by stage."""
    stages = [
        f"stage {row.stage} {format_ms(row.bubble_ms)} ({format_frac(row.share)})"
        for row in found.stages[:MOST_STAGES]
    ]
    more = f" and {len(found.stages) - MOST_STAGES} more" if len(found.stages) > MOST_STAGES else ""
    return f"bubbles hold {format_frac(found.share)}; {each}: {', '.join(stages)}{more}"


def each_words(job: JobReport) -> str:
    """Behind a quantity: per step, or in the window."""
    return "a step" if job.steps else "in the window"


def clock_words(job: JobReport) -> str:
    """How well the clocks are aligned."""
    if job.clock_uncertainty_ms is None:
        return "not aligned"
    offsets = [clock.offset_ms for clock in job.clocks]
    span = max(offsets) - min(offsets) if offsets else 0.0
    hosts = (
        f"{len(job.clocks)} hosts, up to {format_ms(span)} apart"
        if len(offsets) > 1
        else "one host"
    )
    return f"{hosts}; aligned by the ends of collectives, uncertain by {format_ms(job.clock_uncertainty_ms)}"


def outlier_words(row: OutlierRow) -> str:
    """A rank that stands out by a part of its step."""
    return f"rank {row.rank}: {_part(row.part)} {format_ms(row.ms)} a step, median {format_ms(row.median_ms)}"


def _part(part: str | None) -> str:
    return (
        part_word(part, has_device=part not in ("forward", "backward", "optimizer", "other")).label
        if part
        else ""
    )
