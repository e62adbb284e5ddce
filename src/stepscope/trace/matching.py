"""Questions about names, asked once per distinct name and not once per event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable


def matches(names: pl.Series, pattern: str) -> npt.NDArray[np.bool_]:
    """For each of a column of dictionary-encoded names, whether it matches; shape ``(len(names),)``."""
    if not len(names):
        return np.zeros(0, np.bool_)
    codes, distinct = _encoded(names)
    found: npt.NDArray[np.bool_] = distinct.str.contains(pattern).to_numpy()[codes]
    return found


def mapped(
    names: pl.Series, function: Callable[[pl.Series], pl.Series], dtype: type[pl.DataType]
) -> pl.Series:
    """For each of a column of dictionary-encoded names, what the function makes of its text."""
    if not len(names):
        return pl.Series([], dtype=dtype)
    codes, distinct = _encoded(names)
    return function(distinct).cast(dtype).gather(codes)


def _encoded(names: pl.Series) -> tuple[npt.NDArray[np.int64], pl.Series]:
    """A small number for each name, and the text of each number."""
    physical = names.to_physical().to_numpy()
    place = np.full(int(physical.max()) + 1, -1, np.int64)
    place[physical] = np.arange(len(physical))
    used = np.flatnonzero(place >= 0)
    first = place[used]
    place[used] = np.arange(len(used))
    return place[physical], names.gather(first).cast(pl.String)
