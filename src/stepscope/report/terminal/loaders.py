"""The input pipeline from inside: a few lines a loader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stepscope.report import loader_words as words
from stepscope.report.terminal.look import indented, labelled

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.report.terminal.look import Look
    from stepscope.schema.report import LoaderReport, RankReport, Report

MOST_LOADERS: Final = 3
MOST_FUNCTIONS: Final = 3


def loaders_section(report: Report, rank: RankReport, look: Look) -> list[RenderableType]:
    """The loaders of the shown rank that training waited for most."""
    own = [one for one in report.loaders if one.rank == (rank.rank or 0)]
    if not own:
        return []
    shown = sorted(own, key=lambda one: -one.wait_ms)[:MOST_LOADERS]
    heading = look.say("Input pipeline")
    heading.stylize("bold underline" if look.is_rich else "")
    if len(own) > len(shown):
        heading.append_text(look.say(f": {len(shown)} of {len(own)} loaders"))
    lines: list[RenderableType] = [heading]
    for loader in shown:
        lines += _lines(loader, look)
    return lines


def _lines(loader: LoaderReport, look: Look) -> list[RenderableType]:
    rows = [("settings", words.settings_sentence(loader)), ("batches", words.wait_sentence(loader))]
    times = words.times_sentence(loader)
    if times:
        rows.append(("a batch", times))
    busiest = words.busy_functions(loader)[:MOST_FUNCTIONS]
    rows += [("busy in", words.function_sentence(row)) for row in busiest]
    if loader.places:
        rows.append(("data", words.place_sentence(loader.places[0])))
    text = [(label, look.say(sentence)) for label, sentence in rows]
    return [look.say(words.loader_name(loader)), indented(labelled(look, text), 2)]
