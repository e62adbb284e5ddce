"""The longest kernels and operators; only here they are cut, and it is said how many more there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table

from stepscope.report.foreign import essential
from stepscope.units import format_frac, format_ms

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.report.terminal.look import Look
    from stepscope.schema.report import KernelRow, OperatorRow, Report

MOST_ROWS: Final = 5
_NUMBERS: Final = 2 * 9 + 14 + 3 * 2
"""Columns that the numbers of a row and the gaps between them take."""


def tables_section(report: Report, look: Look) -> list[RenderableType]:
    """Kernels by total time, operators by their own."""
    lines: list[RenderableType] = []
    if report.kernels:
        lines.append(_kernels(report.kernels, look))
    if report.operators:
        if lines:
            lines.append(look.say(""))
        lines.append(_operators(report.operators, look))
    return lines


def _kernels(rows: tuple[KernelRow, ...], look: Look) -> RenderableType:
    """The longest kernels."""
    table = _table(look, _title("Kernels", len(rows)), "calls", "total", "of all kernels")
    for row in rows[:MOST_ROWS]:
        numbers = (f"{row.count:,}", format_ms(row.total_ms), format_frac(row.share))
        _add(table, look, row.name, numbers)
    return table


def _operators(rows: tuple[OperatorRow, ...], look: Look) -> RenderableType:
    """The operators that take the host longest."""
    title = _title("Operators on the host", len(rows))
    table = _table(look, title, "calls", "own time", "of own time")
    for row in rows[:MOST_ROWS]:
        name = row.name if row.input_dims is None else f"{row.name} {row.input_dims}"
        numbers = (f"{row.count:,}", format_ms(row.self_ms), format_frac(row.share))
        _add(table, look, name, numbers)
    return table


def _title(what: str, count: int) -> str:
    """The first column's heading, with how many rows are shown."""
    return f"{what}, {MOST_ROWS} of {count:,}" if count > MOST_ROWS else what


def _table(look: Look, title: str, *numbers: str) -> Table:
    """An empty table whose first column takes what the numbers leave."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="")
    heading = look.say(title, "bold underline" if look.is_rich else "")
    table.add_column(heading, width=_room(look), no_wrap=True)
    for number in numbers:
        table.add_column(look.say(number, "dim"), justify="right", no_wrap=True, min_width=9)
    return table


def _room(look: Look) -> int:
    """Columns for a name."""
    return max(look.width - _NUMBERS, 16)


def _add(table: Table, look: Look, name: str, numbers: tuple[str, ...]) -> None:
    """One row."""
    table.add_row(
        look.say(look.cut(essential(name), _room(look))), *(look.say(number) for number in numbers)
    )
