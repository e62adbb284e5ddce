"""The first lines: what was looked at, the verdict, and what the data can carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from stepscope.report.terminal.look import Look, indented, labelled
from stepscope.report.words import REGIMES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.schema.notice import Notice
    from stepscope.schema.report import Report

MOST_NOTICES: Final = 6
_GOOD: Final = frozenset({"healthy", "compute"})


def head_section(report: Report, look: Look) -> list[RenderableType]:
    """The verdict first, then notices about the data."""
    regime = report.verdict.regime
    style = "bold green" if regime in _GOOD else "bold red"
    verdict = look.say(REGIMES[regime].upper(), style)
    verdict.append_text(look.say(": " + report.verdict.sentence, "bold"))
    lines: list[RenderableType] = [_origin(report, look), verdict]
    if not report.health.usable:
        lines.append(
            look.say("No verdict about a bottleneck can rest on this data.", "bold yellow")
        )
    if report.health.notices:
        lines += [Text(""), *_notices(report.health.notices, look)]
    return lines


def _origin(report: Report, look: Look) -> Text:
    """What was looked at, on one line."""
    first = report.paths[0] if report.paths else ""
    more = f" and {len(report.paths) - 1} more" if len(report.paths) > 1 else ""
    devices = sorted({rank.device for rank in report.ranks})
    device = devices[0] if len(devices) == 1 else f"{len(devices)} kinds of devices"
    ranks = f", {len(report.ranks)} ranks" if len(report.ranks) > 1 else ""
    tail = f"{more} ({look.cut(device, 30)}{ranks})"
    room = look.width - len("stepscope: ") - len(tail)
    return look.say(f"stepscope: {look.cut(first, max(room, 20))}{tail}", "dim")


def _notices(notices: tuple[Notice, ...], look: Look) -> list[RenderableType]:
    """The most important notices, and how many more there are."""
    rows = []
    for notice in notices[:MOST_NOTICES]:
        where = "" if notice.rank is None else f"rank {notice.rank}: "
        rows.append(("", look.say(f"{where}{notice.text}", "yellow")))
    more = len(notices) - MOST_NOTICES
    if more > 0:
        rows.append(("", look.say(f"and {more} more notices in the HTML and JSON reports", "dim")))
    rows[0] = ("Data", rows[0][1])
    return [indented(labelled(look, rows), 0)]
