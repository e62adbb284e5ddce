"""Ranks compared: who was late, by what, and how collectives split into waiting and transfer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table

from stepscope.report.job_words import (
    bucket_words,
    clock_words,
    each_words,
    late_words,
    outlier_words,
    overlap_words,
    path_words,
    pipeline_words,
    straggler_words,
)
from stepscope.report.terminal.look import labelled
from stepscope.units import format_ms, format_value

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.report.terminal.look import Look
    from stepscope.schema.report import CollectiveRow, JobReport, Report

MOST_ROWS: Final = 6
MOST_LATE: Final = 5
MOST_OUTLIERS: Final = 3
MOST_GROUPS: Final = 4


def job_section(report: Report, look: Look) -> list[RenderableType]:
    """What only several ranks together tell."""
    job = report.job
    if job is None:
        return []
    rows = [("Late", straggler_words(job))]
    longest = sorted(job.late, key=lambda row: -row.late_ms)[:MOST_LATE]
    rows += [("", late_words(job, row)) for row in job.late if row in longest]
    rows += [("Stands out", outlier_words(row)) for row in job.outliers[:MOST_OUTLIERS]]
    rows += [("Path", path_words(job))] if job.path else []
    rows += _overlap(job)
    rows.append(("Clocks", clock_words(job)))
    rows += [("Not told", text) for text in job.cannot_tell]
    heading = look.say("Ranks compared")
    heading.stylize("bold underline" if look.is_rich else "")
    lines: list[RenderableType] = [
        heading,
        labelled(look, [(label, look.say(text)) for label, text in rows]),
    ]
    if job.collectives:
        lines += [look.say(""), _table(job.collectives, look)]
    return lines


def _overlap(job: JobReport) -> list[tuple[str, str]]:
    """Communication hidden and exposed by group and message, and the bubbles of a pipeline."""
    each = each_words(job)
    rows = [("Overlap", overlap_words(row, each)) for row in job.overlap[:MOST_GROUPS]]
    first = next(iter(job.buckets), None)
    if first is not None:
        alike = (first.group, first.kind)
        same = tuple(row for row in job.buckets if (row.group, row.kind) == alike)
        rows.append(("", bucket_words(same)))
    if job.pipeline is not None:
        rows.append(("Pipeline", pipeline_words(job.pipeline, each)))
    return rows


def _table(rows: tuple[CollectiveRow, ...], look: Look) -> RenderableType:
    more = f", {MOST_ROWS} of {len(rows)}" if len(rows) > MOST_ROWS else ""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(look.say(f"Collectives{more}"))
    for name in ("calls", "waiting", "transfer", "longest", "bus GB/s"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows[:MOST_ROWS]:
        name = row.description or row.group
        label = f"{row.kind}, {row.ranks} ranks" + (f", {name}" if name else "")
        texts = (
            label,
            f"{row.count:,}",
            format_ms(row.waiting_ms),
            format_ms(row.transfer_ms),
            format_ms(row.longest_ms),
            format_value(row.bus_gb_s, ""),
        )
        table.add_row(*(look.say(look.cut(text, 36)) for text in texts))
    return table
