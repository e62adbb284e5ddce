"""Where the whole run goes, a bar for each part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table

from stepscope.report import run_words
from stepscope.units import format_frac, format_ms

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.report.terminal.look import Look
    from stepscope.schema.report import Report

_COLUMNS: Final = 15 + 9 + 7 + 8


def run_section(report: Report, look: Look) -> list[RenderableType]:
    """The parts of the wall time of the rank that was recorded best."""
    run = None if report.recording is None else report.recording.run
    if run is None:
        return []
    heading = look.say("Where the whole run goes")
    heading.stylize("bold underline" if look.is_rich else "")
    of_rank = f" (rank {run.rank})" if len(report.ranks) > 1 else ""
    heading.append_text(look.say(f": of {format_ms(run.wall_ms)} wall time{of_rank}"))
    room = max(look.width - _COLUMNS, 4)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=15, no_wrap=True)
    table.add_column(width=9, justify="right", no_wrap=True)
    table.add_column(width=7, justify="right", no_wrap=True)
    table.add_column(width=room, no_wrap=True)
    for share in run_words.shares(run):
        table.add_row(
            look.say(share.word.label),
            look.say(format_ms(share.ms)),
            look.say(format_frac(share.frac)),
            look.say(look.bar(share.frac, room)),
        )
    note = run_words.note(run)
    return [heading, table, *([look.say(note)] if note else [])]
