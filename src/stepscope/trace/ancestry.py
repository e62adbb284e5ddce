"""Which event of a certain sort encloses another, for all rows of ``host`` at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from stepscope.trace.intervals import Bools, Ints


def parents(host: pl.DataFrame) -> Ints:
    """Row of the enclosing event, -1 for the outermost; shape ``(len(host),)``."""
    filled: Ints = host.get_column("parent").fill_null(-1).to_numpy()
    return filled


def nearest(host: pl.DataFrame, is_wanted: Bools) -> Ints:
    """Row of the innermost wanted event that encloses each row, itself left out; -1 where there is none.

    Chains of parents are halved in each round, so that deep Python stacks cost log2(depth) rounds.
    """
    up = parents(host)
    if not len(up):
        return up
    # One row more at the end stands for "nothing", which encloses itself.
    jump = np.append(np.where(up < 0, len(up), up), len(up))
    stops = np.append(is_wanted, True)
    while True:
        landed = stops[jump]
        if landed.all():
            found = jump[:-1]
            return np.where(found == len(up), -1, found).astype(np.int64)
        jump = np.where(landed, jump, jump[jump])
