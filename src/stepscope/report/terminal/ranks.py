"""Several ranks side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table

from stepscope.report.chosen import chosen_ranks
from stepscope.report.sentences import has_device, step_whole
from stepscope.report.words import part_word
from stepscope.units import format_frac, format_ms, format_value

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.report.terminal.look import Look
    from stepscope.schema.report import RankReport, Report

MOST_RANKS: Final = 8


def ranks_section(report: Report, look: Look) -> list[RenderableType]:
    """One line a rank; of many ranks those that findings name, then the slowest."""
    if len(report.ranks) < 2:
        return []
    shown = chosen_ranks(report, MOST_RANKS)
    more = len(report.ranks) - len(shown)
    heading = look.say("Ranks")
    heading.stylize("bold underline" if look.is_rich else "")
    if more:
        heading.append_text(
            look.say(f": {len(shown)} of {len(report.ranks)}, those named above and the slowest; ")
        )
        heading.append_text(look.say("all are in the HTML and JSON reports"))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in ("rank", "steps", "median step", "GPU busy", "loader wait"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("largest part beside compute")
    for rank in shown:
        table.add_row(*_cells(rank, look))
    return [heading, table]


def _cells(rank: RankReport, look: Look) -> list[RenderableType]:
    """The cells of one rank."""
    gpu = rank.gpu
    texts = [
        "?" if rank.rank is None else str(rank.rank),
        f"{rank.steps.count:,}",
        format_ms(rank.steps.median_ms),
        format_value(None if gpu is None else gpu.busy_frac, "frac"),
        format_ms(rank.loader_wait_ms),
        _largest(rank),
    ]
    return [look.say(text) for text in texts]


def _largest(rank: RankReport) -> str:
    """The largest part of the step that is not computation."""
    whole = step_whole(rank)
    work = {"compute", "forward", "backward"}
    shares = [share for share in whole.shares if share.name not in work]
    if not shares:
        return "none"
    top = max(shares, key=lambda share: share.ms)
    label = part_word(top.name, has_device=has_device(rank)).label
    return f"{label}, {format_frac(top.frac)}"
