"""The tutorial's notebooks: readable text in this package, ``.ipynb`` files where somebody works with them.

Each notebook is one file of MyST Markdown in ``tutorial/``: prose, and code in fences that begin with
three backticks and ``{code-cell}``. The documentation executes the same files.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from stepscope.errors import InputError

FENCE = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"^:\w+:[^\n]*\n", re.MULTILINE)
BREAK = re.compile(r"^\+\+\+[^\n]*$", re.MULTILINE)
LINK = re.compile(r"\]\((\d-[\w-]+)\.md\)")
"""A link to another notebook, which is Markdown in the package and ``.ipynb`` where somebody works."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a notebook: its kind and its text."""

    kind: Literal["code", "markdown"]
    text: str


def folder() -> Path:
    """Where the package keeps the notebooks' text."""
    return Path(__file__).parent / "tutorial"


def sources() -> tuple[Path, ...]:
    """All notebooks, in the order in which they are read."""
    return tuple(sorted(folder().glob("*.md")))


def cells(text: str) -> tuple[Cell, ...]:
    """A notebook's cells; its front matter is left out."""
    body = re.sub(r"\A---\n.*?^---\n", "", text, count=1, flags=re.MULTILINE | re.DOTALL)
    found: list[Cell] = []
    position = 0
    for fence in FENCE.finditer(body):
        found += _markdown(body[position : fence.start()])
        found.append(Cell("code", _without_options(fence[1]).strip("\n")))
        position = fence.end()
    return (*found, *_markdown(body[position:]))


def to_ipynb(text: str) -> str:
    """A notebook as JSON of nbformat 4.5, without outputs."""
    document = {
        "cells": [_cell(number, cell) for number, cell in enumerate(cells(text))],
        "metadata": {
            "kernelspec": {
                "display_name": "Python 3 (ipykernel)",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def copy_to(target: Path) -> tuple[Path, ...]:
    """Writes every notebook into a folder, and returns those that were written.

    A notebook that is there already is somebody's work and stays as it is.

    Raises:
        InputError: The folder cannot be written.
    """
    written = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for source in sources():
            path = target / f"{source.stem}.ipynb"
            if not path.exists():
                path.write_text(to_ipynb(source.read_text(encoding="utf-8")), encoding="utf-8")
                written.append(path)
    except OSError as error:
        raise InputError(
            f"the notebooks cannot be written: {error.strerror}",
            path=str(target),
            way_out="name another folder",
        ) from error
    return tuple(written)


def _markdown(text: str) -> list[Cell]:
    text = LINK.sub(r"](\1.ipynb)", text)
    return [Cell("markdown", piece.strip()) for piece in BREAK.split(text) if piece.strip()]


def _without_options(code: str) -> str:
    while OPTION.match(code):
        code = OPTION.sub("", code, count=1)
    return code


def _cell(number: int, cell: Cell) -> dict[str, object]:
    common: dict[str, object] = {
        "cell_type": cell.kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": cell.text.splitlines(keepends=True),
    }
    if cell.kind == "code":
        return {**common, "execution_count": None, "outputs": []}
    return common
