"""A Sphinx extension: reference pages made from the package's own words, so that they cannot go stale.

Before a build, every page is written below ``docs/reference/made`` and every notebook of the package is
copied below ``docs/tutorials/made``; a file whose text is unchanged keeps its time, so that Sphinx and
the cache of executed notebooks have nothing to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reference_pages import commands, documents, errors, limits, notebooks, rules, tables

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGES = (commands, documents, errors, limits, rules, tables)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once."""
    app.connect("builder-inited", write_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_all(app: Sphinx) -> None:
    """Writes every made page, and removes those that nothing makes any more."""
    top = Path(app.srcdir)
    pages = {f"reference/made/{name}": text for part in PAGES for name, text in part.pages()}
    pages |= {f"tutorials/made/{name}": text for name, text in notebooks.pages()}
    for name, text in pages.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for folder in (top / "reference" / "made", top / "tutorials" / "made"):
        for path in folder.rglob("*.md"):
            if path.relative_to(top).as_posix() not in pages:
                path.unlink()
