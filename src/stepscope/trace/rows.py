"""Rows of one kind while a file is read: pieces of columns, put together column by column at the end."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Column: TypeAlias = npt.NDArray[Any]


class Rows:
    """Pieces of columns with the same names.

    Attributes:
        count: Rows so far.
    """

    __slots__ = ("_pieces", "count")

    def __init__(self) -> None:
        self._pieces: dict[str, list[Column]] = {}
        self.count = 0

    def add(self, columns: dict[str, Column]) -> None:
        """Takes one piece in; the columns must be as long as each other and named as the first piece's."""
        for name, column in columns.items():
            self._pieces.setdefault(name, []).append(column)
        self.count += len(next(iter(columns.values())))

    def take(self, name: str) -> Column:
        """One whole column; its pieces are given up."""
        pieces = self._pieces.pop(name)
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def peek(self, name: str) -> Column:
        """One whole column, which stays."""
        pieces = self._pieces[name]
        if len(pieces) > 1:
            pieces[:] = [np.concatenate(pieces)]
        return pieces[0]

    def packed(self) -> dict[str, Column]:
        """All columns, whole."""
        return {name: self.peek(name) for name in self._pieces}
