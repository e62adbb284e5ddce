"""A page with every command: its words and its options, from argparse."""

from __future__ import annotations

import argparse
import os
import re
from typing import TYPE_CHECKING

from stepscope.cli.main import parser

if TYPE_CHECKING:
    from collections.abc import Iterator


def pages() -> Iterator[tuple[str, str]]:
    """The page."""
    os.environ["COLUMNS"] = "100"
    top = parser()
    action = next(a for a in top._actions if isinstance(a, argparse._SubParsersAction))  # noqa: SLF001
    parts = [
        "# Commands\n",
        "What each command prints for `--help`, made from the program itself.\n",
        f"```text\n{plain(top.format_help())}```\n",
    ]
    for name, command in action.choices.items():
        parts.append(f"## stepscope {name}\n")
        parts.append(f"```text\n{plain(command.format_help())}```\n")
    yield "commands.md", "\n".join(parts)


def plain(text: str) -> str:
    """Help without the colours that newer Pythons give it."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
