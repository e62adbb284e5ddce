"""A page for each rule, from its module's docstring with the fixed headings, and their list."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from reference_pages.words import markdown, table
from stepscope.advice import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stepscope.advice.base import Rule

HEADING = re.compile(r"^([A-Z][\w ]+):$", re.MULTILINE)


def pages() -> Iterator[tuple[str, str]]:
    """The list, then the rules."""
    rows = [(f"[{rule.code}](rules/{rule.code}.md)", rule.regime, rule.title) for rule in RULES]
    names = "\n".join(f"rules/{rule.code}" for rule in RULES)
    yield (
        "rules.md",
        "# Rules\n\nEach finding of a report has a code that is never used again. A rule fires, or says"
        " nothing: with data missing it says nothing.\n\n"
        + table(("code", "regime", "title"), rows)
        + f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n",
    )
    for rule in RULES:
        yield f"rules/{rule.code}.md", page(rule)


def page(rule: Rule) -> str:
    """One rule's page."""
    text = inspect.cleandoc(rule.doc)
    subtitle, _, rest = text.partition("\n")
    pieces = HEADING.split(rest)
    parts = [f"# {rule.code}: {rule.title}\n", f"*Regime: {rule.regime}.* {markdown(subtitle)}\n"]
    if pieces[0].strip():
        parts.append(markdown(pieces[0].strip()) + "\n")
    for heading, body in zip(pieces[1::2], pieces[2::2], strict=True):
        parts.append(f"## {heading}\n\n{linked(markdown(inspect.cleandoc(body)))}\n")
    if rule.explained_by:
        others = ", ".join(f"[{code}]({code}.md)" for code in rule.explained_by)
        parts.append(f"Not shown beside {others}, which explains it.\n")
    return "\n".join(parts)


def linked(text: str) -> str:
    """Bare addresses as links."""
    return re.sub(r"(?<![(<])(https?://\S+)", r"<\1>", text)
