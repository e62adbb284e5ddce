"""What the run used, drew and costs, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.report.cost_words import cost_sentence, is_priced
from stepscope.report.terminal.look import Look, labelled
from stepscope.report.use_words import energy_sentence, use_sentence

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.schema.report import Report

MOST_SEEN = 3


def use_section(report: Report, look: Look) -> list[RenderableType]:
    """Utilisation, energy, cost, and mistakes that the samples show; nothing for traces without rates.

    That a run without a device has no price is left to the page, unless somebody asked for a plan's.
    """
    rows = []
    if report.use is not None:
        rows.append(("Use", use_sentence(report.use)))
        rows.append(("Energy", energy_sentence(report.use)))
    elif report.cost is not None:
        rows.append(("Energy", "not measured"))
    if report.cost is not None and (report.cost.plan is not None or is_priced(report.cost.run)):
        rows.append(("Cost", cost_sentence(report.cost)))
    rows += [
        ("" if place else "Seen", f"{finding.code} {finding.title}: {finding.action}")
        for place, finding in enumerate(report.seen[:MOST_SEEN])
    ]
    return [labelled(look, [(name, look.say(text)) for name, text in rows])] if rows else []
