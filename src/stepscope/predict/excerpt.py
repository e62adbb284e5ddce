"""The steps that are replayed: all of a short trace, a typical stretch of a long one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from stepscope.trace.scope import scope_of
from stepscope.trace.select import select_steps

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace

MOST_EVENTS = 100_000
"""Replaying so many events a dozen times takes about as long as reading them."""

LEAST_STEPS = 8
"""So many steps are replayed even when they hold more events, so that their spread is known."""


class Excerpt(Struct, frozen=True, eq=False):
    """A part of a trace.

    Attributes:
        trace: The part, whole steps one after another, and one more that counts as partial, because its
            device work may end outside.
        kept: Rows of the whole trace's table ``device`` that it holds, shape ``(device,)``.
    """

    trace: Trace
    kept: Bools


def excerpt(trace: Trace, most: int = MOST_EVENTS) -> Excerpt:
    """Consecutive steady steps whose mean length is nearest to that of all, with few enough events.

    A trace without steps stays whole, and so does one whose step numbers do not rise.
    """
    everything = Excerpt(trace, np.ones(len(trace.device), dtype=np.bool_))
    scope = scope_of(trace)
    events = len(trace.host) + len(trace.device)
    count = max(most * len(scope.bounds) // max(events, 1), LEAST_STEPS)
    rising = bool((np.diff(scope.numbers) > 0).all())
    if events <= most or not scope.are_steps or not rising:
        return everything
    first = _most_typical(scope.lengths_ns, scope.is_steady, count)
    if first is None:
        return everything
    numbers = scope.numbers[first : first + count]
    part = select_steps(trace, int(numbers[0]), int(numbers[-1]) + 1)
    last = pl.Series("is_partial", np.arange(count) == count - 1)
    part = replace(part, steps=part.steps.with_columns(last))
    start, end = scope.bounds[first, 0], scope.bounds[first + count - 1, 1]
    begun, ended = (trace.device[name].to_numpy() for name in ("start_ns", "end_ns"))
    return Excerpt(part, (ended > start) & (begun < end))


def _most_typical(lengths: Ints, steady: Bools, count: int) -> int | None:
    """First of the ``count`` neighbouring steady steps whose mean length is nearest to that of all."""
    if len(lengths) <= count:
        return None
    sums = np.concatenate(([0], np.cumsum(lengths)))
    good = np.concatenate(([0], np.cumsum(steady)))
    means = (sums[count:] - sums[:-count]) / count
    whole = good[count:] - good[:-count] == count
    if not whole.any():
        return None
    far = np.abs(means - lengths[steady].mean())
    return int(np.where(whole, far, np.inf).argmin())
