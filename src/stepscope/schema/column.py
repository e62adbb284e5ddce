"""What a table is: named columns, each with a type, a unit and one sentence.

The reference documentation and the checks on what the reader produces come from the same text.
Data types are words, not objects of a table library, so that the recorder can import this module
inside a training process without importing polars.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

DType = Literal["i64", "f64", "bool", "str", "cat"]
"""Column types: 64-bit integer, 64-bit float, boolean, text, dictionary-encoded text."""


class Column(Struct, frozen=True):
    """One column of a table.

    Attributes:
        name: Column name; carries its unit where it has one (``_ns``, ``_bytes``).
        dtype: One of :data:`DType`.
        unit: ``ns``, ``bytes``, ``row`` (a row number of another table), ``id``, ``count`` or ``""``.
        doc: One sentence for the reference.
        nullable: Whether a cell may be null, which always means "not recorded".
    """

    name: str
    dtype: DType
    unit: str
    doc: str
    nullable: bool = False


class Table(Struct, frozen=True):
    """A table: its name, one sentence and its columns in order."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """The column of that name.

        Raises:
            KeyError: The table has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)
