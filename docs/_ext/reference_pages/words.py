"""Pieces of Markdown from docstrings."""

from __future__ import annotations

import inspect
import re

FIELD = re.compile(r"^    (\w[\w, ]*): +(.*)$")


def attributes(cls: type) -> dict[str, str]:
    """What the docstring's ``Attributes:`` says of each field; several names may share a line."""
    _, _, section = inspect.cleandoc(cls.__doc__ or "").partition("Attributes:\n")
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line.strip() and not line.startswith("    "):
            break
        match = FIELD.match(line)
        if match:
            names = [name.strip() for name in match[1].split(",")]
            text = match[2]
        else:
            text = line.strip()
        for name in names:
            found[name] = f"{found.get(name, '')} {text}".strip()
    return found


def head(text: str) -> str:
    """A docstring up to its first section."""
    return markdown(re.split(r"\n(?:Attributes|Args|Raises|Returns):\n", inspect.cleandoc(text))[0])


def markdown(text: str) -> str:
    """Roles of reStructuredText as Markdown's code."""
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)


def cell(text: str) -> str:
    """Text that cannot end a table's cell."""
    return " ".join(markdown(text).split()).replace("|", "\\|")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell(value) for value in row)} |" for row in rows]
    return "\n".join(lines) + "\n"
