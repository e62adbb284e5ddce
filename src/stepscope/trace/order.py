"""Sorting that costs little when, as in most files, few rows share a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Ints = npt.NDArray[np.int64]


def sorted_rows(
    keys: Sequence[npt.NDArray[np.generic]],
    more: Callable[[], Sequence[npt.NDArray[np.generic]]],
) -> Ints:
    """Positions in the order of the keys, the first key first; ties keep their order.

    Args:
        keys: At least one column of numbers, shape (n,).
        more: Makes further keys; called only when rows are equal in all of ``keys``.
    """
    order: Ints = np.argsort(keys[0], kind="stable")
    done: list[npt.NDArray[np.generic]] = [keys[0]]
    for key in keys[1:]:
        tied = _tied(order, done)
        if not tied.any():
            return order
        done.append(key)
        order = _resolved(order, tied, done)
    tied = _tied(order, done)
    if tied.any():
        order = _resolved(order, tied, [*done, *more()])
    return order


def _tied(order: Ints, keys: Sequence[npt.NDArray[np.generic]]) -> npt.NDArray[np.bool_]:
    """Places whose row equals a neighbour's in all keys, shape (n,)."""
    same = np.ones(max(len(order) - 1, 0), np.bool_)
    for key in keys:
        sorted_key = key[order]
        same &= sorted_key[1:] == sorted_key[:-1]
    return np.append(same, False) | np.insert(same, 0, False)


def _resolved(
    order: Ints, tied: npt.NDArray[np.bool_], keys: Sequence[npt.NDArray[np.generic]]
) -> Ints:
    """The tied places sorted anew by all keys; their groups stay where they are."""
    rows = order[tied]
    order = order.copy()
    order[tied] = rows[np.lexsort([key[rows] for key in reversed(keys)])]
    return order
