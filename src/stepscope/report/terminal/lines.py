"""The lines of the user's code that hold the step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table

from stepscope.report import line_words as words
from stepscope.units import format_frac, format_ms

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.report.terminal.look import Look
    from stepscope.schema.report import RankReport

MOST_ROWS: Final = 5
_NUMBERS: Final = 2 * 9 + 2 * 3
"""Columns that the numbers of a row and the gaps between them take."""


def lines_section(rank: RankReport, look: Look) -> list[RenderableType]:
    """The lines with most time of their own."""
    if rank.lines is None:
        return []
    rows = words.chosen(rank.lines)[:MOST_ROWS]
    if not rows:
        return []
    room = max(look.width - _NUMBERS, 16)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="")
    title = f"Lines of code, by {rank.lines.samples:,} samples"
    table.add_column(look.say(title, "bold underline" if look.is_rich else ""), width=room)
    for name in ("own time", "of a step"):
        table.add_column(look.say(name, "dim"), justify="right", no_wrap=True, min_width=9)
    for row in rows:
        text = f"{words.place(row)}  {row.text}"
        numbers = (format_ms(row.self_ms), format_frac(row.self_frac))
        table.add_row(look.say(look.cut(text, room)), *(look.say(one) for one in numbers))
    return [table]
