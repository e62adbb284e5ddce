"""Which events have a place in time; the others are dropped and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from stepscope.trace.events import ABSENT

if TYPE_CHECKING:
    from stepscope.trace.rows import Rows

Ints = npt.NDArray[np.int64]
T = TypeVar("T", bound=np.generic)

DAY_NS = 24 * 3600 * 10**9
LONGEST_NS = 7 * DAY_NS
"""Longer events come from a counter that ran over."""
FARTHEST_NS = 30 * DAY_NS
"""Events farther than this from the middle one have a broken clock."""
FAR_FROM_ZERO_NS = 10**9
"""An event at time 0 is one without a time when the middle one is farther than this from 0."""
TINY = 10**8
"""Durations below this many nanoseconds are not doubted, whatever their share."""


class Dropped(Struct, frozen=True):
    """Events that no table can hold, by reason.

    Attributes:
        no_time: Without a start or a duration that is a number.
        zero_time: Start 0 (and so no place on the clock) where the others are far from 0.
        negative: Negative duration.
        absurd: Of more than seven days, or more than a month away from the others.
        clipped: Device work shortened because it overran several successors on its stream.
    """

    no_time: int = 0
    zero_time: int = 0
    negative: int = 0
    absurd: int = 0
    clipped: int = 0

    @property
    def total(self) -> int:
        """Events dropped, without the clipped."""
        return self.no_time + self.zero_time + self.negative + self.absurd

    def __add__(self, other: Dropped) -> Dropped:
        return Dropped(
            self.no_time + other.no_time,
            self.zero_time + other.zero_time,
            self.negative + other.negative,
            self.absurd + other.absurd,
            self.clipped + other.clipped,
        )


class Timed(Struct, frozen=True, eq=False):
    """Events with a place in time.

    Attributes:
        start, end: Nanoseconds with the base added, shape ``(count,)``.
        dropped: What was left out.
    """

    start: Ints
    end: Ints
    dropped: Dropped
    _is_kept: npt.NDArray[np.bool_] | None

    @property
    def count(self) -> int:
        """Events that are left."""
        return len(self.start)

    def kept(self, column: npt.NDArray[T]) -> npt.NDArray[T]:
        """The values of the events that are left; a copy or the column itself."""
        return column if self._is_kept is None else column[self._is_kept]


def middle_of(values: Ints) -> int:
    """The middle one of many values, 0 of none."""
    half = len(values) // 2
    return int(np.partition(values, half)[half]) if len(values) else 0


def timed(rows: Rows, base_ns: int) -> Timed:
    """Takes the columns ``start_ns`` and ``dur_ns`` out of the rows.

    Args:
        rows: Raw rows.
        base_ns: Nanoseconds to add to every start.
    """
    if not rows.count:
        return Timed(np.empty(0, np.int64), np.empty(0, np.int64), Dropped(), None)
    start, duration = rows.take("start_ns"), rows.take("dur_ns")
    no_time = (start == ABSENT) | (duration == ABSENT)
    known = start[~no_time & (start != 0)]
    middle = middle_of(known)
    zero = (start == 0) & ~no_time & (abs(middle) > FAR_FROM_ZERO_NS)
    bad = no_time | zero
    negative = ~bad & (duration < 0)
    bad |= negative
    absurd = ~bad & (duration > LONGEST_NS)
    absurd |= ~bad & ((start > middle + FARTHEST_NS) | (start < middle - FARTHEST_NS))
    bad |= absurd
    dropped = Dropped(int(no_time.sum()), int(zero.sum()), int(negative.sum()), int(absurd.sum()))
    is_kept = ~bad if dropped.total else None
    if is_kept is not None:
        start, duration = start[is_kept], duration[is_kept]
    start = start + base_ns
    return Timed(start, start + duration, dropped, is_kept)
