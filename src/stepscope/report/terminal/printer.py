"""The order of the sections, and where the text goes."""

from __future__ import annotations

import io
import os
import re
import sys
from typing import TYPE_CHECKING, Final, TextIO, TypeAlias, cast

from rich.console import Console

from stepscope.report.sentences import focus
from stepscope.report.terminal.findings import findings_section
from stepscope.report.terminal.head import head_section
from stepscope.report.terminal.job import job_section
from stepscope.report.terminal.lines import lines_section
from stepscope.report.terminal.loaders import loaders_section
from stepscope.report.terminal.look import GLUE, Look
from stepscope.report.terminal.path import path_section
from stepscope.report.terminal.ranks import ranks_section
from stepscope.report.terminal.run import run_section
from stepscope.report.terminal.step import figures_section, parts_section
from stepscope.report.terminal.tables import tables_section
from stepscope.report.terminal.use import use_section

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

    from stepscope.schema.report import Report

Section: TypeAlias = "list[RenderableType]"
"""Pieces of a page that belong together; an empty section is left out."""

PIPE_WIDTH: Final = 80
MOST_COLUMNS: Final = 110
"""Longer lines are hard to read, so that a wider terminal gets no wider text."""
_TRAILING: Final = re.compile(r"[ \t]+$", re.MULTILINE)


def print_report(report: Report, file: TextIO | None = None, width: int | None = None) -> None:
    """Print a report: coloured on a terminal, plain text of 80 columns (or ``COLUMNS``) elsewhere.

    Args:
        report: What to print.
        file: Where to; standard output when not given.
        width: Columns; those of the terminal when not given.
    """
    rank = focus(report)

    def sections(look: Look) -> list[Section]:
        return [
            head_section(report, look),
            findings_section(report, look),
            parts_section(report, rank, look) if report.health.usable else [],
            path_section(report, rank, look) if report.health.usable else [],
            figures_section(report, rank, look),
            lines_section(rank, look),
            loaders_section(report, rank, look),
            run_section(report, look),
            use_section(report, look),
            ranks_section(report, look),
            job_section(report, look),
            tables_section(report, look),
        ]

    print_sections(sections, file, width)


def print_sections(
    sections: Callable[[Look], list[Section]], file: TextIO | None = None, width: int | None = None
) -> None:
    """Print those sections that have something to say, with a blank line between them.

    Args:
        sections: Makes them for what the receiver can show.
        file: Where to; standard output when not given.
        width: Columns; those of the terminal when not given.
    """
    file = sys.stdout if file is None else file
    receiver = Console(file=file, force_jupyter=False)
    page = io.StringIO()
    console = Console(
        file=cast("TextIO", _Encoded(page, receiver.encoding)),
        width=width or _width(receiver),
        force_terminal=receiver.is_terminal,
        force_jupyter=False,
        no_color=receiver.no_color,
        color_system="auto" if receiver.is_terminal else None,
        legacy_windows=receiver.legacy_windows,
    )
    for number, section in enumerate(part for part in sections(Look.of(console)) if part):
        if number:
            console.print()
        for piece in section:
            console.print(piece, markup=False, highlight=False, emoji=False)
    file.write(_TRAILING.sub("", page.getvalue().replace(GLUE, " ")))
    file.flush()


def _width(receiver: Console) -> int:
    """Columns for a receiver whose width nobody gave."""
    if receiver.is_terminal:
        return min(receiver.width, MOST_COLUMNS)
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) >= 40 else PIPE_WIDTH


class _Encoded(io.TextIOBase):
    """A text file that says which encoding its text will have in the end."""

    def __init__(self, page: io.StringIO, encoding: str) -> None:
        self._page = page
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """What Rich asks for to choose its signs."""
        return self._encoding

    def write(self, text: str) -> int:
        """Keep the text."""
        return self._page.write(text)
