"""A page with every table that the reader makes: each column's type, unit and definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_pages.words import head, markdown, table
from stepscope.schema import tables
from stepscope.schema.column import Table

if TYPE_CHECKING:
    from collections.abc import Iterator


def pages() -> Iterator[tuple[str, str]]:
    """The page."""
    parts = ["# Tables\n", head(tables.__doc__ or "") + "\n"]
    for value in vars(tables).values():
        if not isinstance(value, Table):
            continue
        parts.append(f"## {value.name}\n\n{markdown(value.doc)}\n")
        rows = [
            (f"`{c.name}`", c.dtype, c.unit, "yes" if c.nullable else "", c.doc)
            for c in value.columns
        ]
        parts.append(table(("column", "type", "unit", "may be null", "definition"), rows))
    yield "tables.md", "\n".join(parts)
