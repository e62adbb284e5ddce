"""The package's notebooks, which the site shows as its tutorials, executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.lab.notebooks import folder

if TYPE_CHECKING:
    from collections.abc import Iterator


def pages() -> Iterator[tuple[str, str]]:
    """Each notebook as it stands: the site and the package share one source."""
    for path in sorted(folder().glob("*.md")):
        yield path.name, path.read_text(encoding="utf-8")
