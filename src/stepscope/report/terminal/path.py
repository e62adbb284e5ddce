"""What the steps waited for, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stepscope.report import path_words as words
from stepscope.report.sentences import has_device, rank_name
from stepscope.report.terminal.look import indented

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.report.terminal.look import Look
    from stepscope.schema.report import RankReport, Report

MOST_KERNELS: Final = 2
_NAME: Final = 50


def path_section(report: Report, rank: RankReport, look: Look) -> list[RenderableType]:
    """The critical path of the shown rank, or why it is not known; nothing where no device works beside the host."""
    path = rank.path
    if not has_device(rank) or (path is None and not rank.path_reason):
        return []
    heading = look.say("Critical path")
    heading.stylize("bold underline" if look.is_rich else "")
    if path is None:
        heading.append_text(look.say(f": not shown, because {rank.path_reason}."))
        return [heading]
    of_rank = f" ({rank_name(rank)})" if len(report.ranks) > 1 else ""
    heading.append_text(look.say(f": of {words.whole(path)}{of_rank}"))
    lines = [words.parts_sentence(path) + "."]
    lines += [
        f"{look.cut(row.name, _NAME)}: {words.kernel_sentence(row)}."
        for row in path.kernels[:MOST_KERNELS]
    ]
    lines += [words.kernels_sentence(path)]
    return [heading, *(indented(look.say(line), 0) for line in lines if line)]
