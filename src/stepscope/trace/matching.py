"""Questions about names, asked once per distinct name and not once per event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from stepscope.trace.remembered import remembered

if TYPE_CHECKING:
    from collections.abc import Callable


class Distinct:
    """A column of dictionary-encoded texts as small numbers and the text of each number.

    Args:
        texts: The column.
    """

    def __init__(self, texts: pl.Series) -> None:
        physical = texts.to_physical().to_numpy()
        highest = int(physical.max()) if len(physical) else -1
        place = np.full(highest + 1, -1, np.int64)
        place[physical] = np.arange(len(physical))
        used = np.flatnonzero(place >= 0)
        first = place[used]
        place[used] = np.arange(len(used))
        self.texts = texts.gather(first).cast(pl.String)
        small = np.uint8 if len(used) <= 2**8 else np.uint32
        self.codes = place.astype(small)[physical]
        self._found: dict[str, npt.NDArray[np.bool_]] = {}

    def matches(self, pattern: str) -> npt.NDArray[np.bool_]:
        """For each row, whether its text matches; shape ``(rows,)``."""
        if not len(self.codes):
            return np.zeros(0, np.bool_)
        found = self._found.get(pattern)
        if found is None:
            found = self._found[pattern] = self.texts.str.contains(pattern).to_numpy()
        answers: npt.NDArray[np.bool_] = found[self.codes]
        return answers

    def is_in(self, texts: tuple[str, ...]) -> npt.NDArray[np.bool_]:
        """For each row, whether its text is one of those given; shape ``(rows,)``."""
        if not len(self.codes):
            return np.zeros(0, np.bool_)
        found = np.array([text in texts for text in self.texts.to_list()], np.bool_)
        answers: npt.NDArray[np.bool_] = found[self.codes]
        return answers


def distinct(frame: pl.DataFrame, column: str) -> Distinct:
    """A column of dictionary-encoded texts of a table, encoded anew once for all questions about it."""
    return remembered(frame, ("distinct", column), lambda: Distinct(frame.get_column(column)))


def matches(names: pl.Series, pattern: str) -> npt.NDArray[np.bool_]:
    """For each of a column of dictionary-encoded names, whether it matches; shape ``(len(names),)``."""
    return Distinct(names).matches(pattern)


def mapped(
    names: pl.Series, function: Callable[[pl.Series], pl.Series], dtype: type[pl.DataType]
) -> pl.Series:
    """For each of a column of dictionary-encoded names, what the function makes of its text."""
    if not len(names):
        return pl.Series([], dtype=dtype)
    found = Distinct(names)
    return function(found.texts).cast(dtype).gather(found.codes)
