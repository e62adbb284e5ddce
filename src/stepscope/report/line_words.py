"""Sentences about lines of code, shared by terminal and page."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from stepscope.report.words import HOST, PARTS
from stepscope.units import format_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.schema.report import LineRow, SourceLines

LEAST_SHARE = 0.02
"""A line with less of the sampled time is left to the JSON report."""


def chosen(lines: SourceLines) -> Sequence[LineRow]:
    """Those that are worth a line, longest first."""
    return [row for row in lines.rows if row.self_frac >= LEAST_SHARE and row.samples > 1]


def place(row: LineRow) -> str:
    """File and number of a line."""
    return f"{PurePath(row.file).name}:{row.line}"


def inside(row: LineRow) -> str:
    """The library's function that holds most of a line's time; empty when none does."""
    return f"mostly in {row.inner}" if row.inner else ""


def part(row: LineRow) -> str:
    """The part of the step that most of a line's time falls into."""
    if row.part is None:
        return ""
    word = HOST.get(row.part) or PARTS.get(row.part)
    return row.part if word is None else word.label


def note(lines: SourceLines) -> str:
    """What the figures rest on, in one sentence."""
    return (
        f"{lines.samples:,} samples of the training thread's stack in the profiled steps, one every "
        f"{format_ms(lines.pause_ms)} or less often, which took {format_ms(lines.cost_ms)} of CPU time. "
        "A line's own time leaves out the user's functions that it calls"
    )
