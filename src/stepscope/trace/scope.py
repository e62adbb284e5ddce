"""The stretches of time over which figures are taken: the steps, else the windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.trace.intervals import Bools, Ints, pairs, union

if TYPE_CHECKING:
    from stepscope.trace.model import Trace


class Scope(Struct, frozen=True, eq=False):
    """Steps of a trace, or its windows when no steps could be told apart.

    Attributes:
        bounds: Shape ``(n, 2)``, ns; at least one row.
        numbers: The steps' numbers, shape ``(n,)``; positions for windows.
        is_startup: Shape ``(n,)``; never for windows.
        is_partial: Shape ``(n,)``; never for windows.
        are_steps: Whether the rows are steps.
    """

    bounds: Ints
    numbers: Ints
    is_startup: Bools
    is_partial: Bools
    are_steps: bool

    @property
    def lengths_ns(self) -> Ints:
        """Length of each row."""
        return self.bounds[:, 1] - self.bounds[:, 0]

    @property
    def is_steady(self) -> Bools:
        """Rows that steady figures rest on: neither start-up nor, while others remain, cut by the window."""
        steady = ~self.is_startup
        whole = steady & ~self.is_partial
        return whole if whole.any() else steady

    @property
    def set(self) -> Ints:
        """All rows as one interval set."""
        return union(self.bounds)


def scope_of(trace: Trace) -> Scope:
    """The steps of a trace, else its windows."""
    steps = trace.steps
    if len(steps):
        return Scope(
            pairs(steps["start_ns"].to_numpy(), steps["end_ns"].to_numpy()),
            steps["number"].to_numpy(),
            steps["is_startup"].to_numpy().astype(np.bool_),
            steps["is_partial"].to_numpy().astype(np.bool_),
            are_steps=True,
        )
    bounds = windows_of(trace)
    none = np.zeros(len(bounds), dtype=np.bool_)
    return Scope(bounds, np.arange(len(bounds), dtype=np.int64), none, none, are_steps=False)


def windows_of(trace: Trace) -> Ints:
    """The recorded windows, shape ``(n, 2)``, in order of time."""
    rows = [(w.start_ns, w.end_ns) for w in trace.windows]
    return np.array(rows, dtype=np.int64).reshape(-1, 2)
