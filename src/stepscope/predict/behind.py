"""How much longer the steps right behind an interruption of training take than the others of the run."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.schema.run_folder import StepRow
    from stepscope.schema.run_time import Phase, RunPart

NEAR = 3
"""So many steps behind an interruption are looked at: caches fill in the first, the system may write for some more."""

LEAST_OTHERS, LEAST_TIMES = 8, 2
"""Of fewer steps that lie further off, or fewer interruptions, nothing is told."""

ALIKE = ("warmup", "clean", "later")
"""Kinds of steps in which only training ran."""


class Behind(Struct, frozen=True):
    """What an interruption leaves behind.

    Attributes:
        part: What interrupted.
        times: Interruptions behind which steps were timed.
        extra_ms: How much longer the ``NEAR`` steps behind one take together, in the mean; below 0 where shorter.
        error_ms: Standard error of it.
    """

    part: RunPart
    times: int
    extra_ms: float
    error_ms: float

    @property
    def most_ms(self) -> float:
        """The upper end of it, at least 0."""
        return max(self.extra_ms + self.error_ms, 0.0)


def behind(part: RunPart, rows: Sequence[StepRow], phases: Sequence[Phase]) -> Behind | None:
    """Compares steps near behind what interrupted with those that have ``NEAR`` steps or more before them.

    Args:
        part: What interrupted.
        rows: The steps of the run, in order.
        phases: When the run was in which part, in order.

    Returns:
        The difference; ``None`` where too few steps tell it.
    """
    starts = [phase.start_ns for phase in phases]
    near: dict[int, list[int]] = {}
    others, passed, last = [], 0, -1
    for row in rows:
        phase = bisect_right(starts, row.start_ns) - 1
        if phase < 0 or phase == len(phases) - 1:
            continue
        if phase != last:
            passed, last = 0, phase
        # A step in which something else began is neither.
        is_whole = row.start_ns + row.duration_ns <= starts[phase + 1]
        if phases[phase].part == "steps" and is_whole and row.count == 1 and row.kind in ALIKE:
            if passed >= NEAR:
                others.append(row.duration_ns)
            elif phase and phases[phase - 1].part == part:
                near.setdefault(phase, []).append(row.duration_ns)
        passed += row.count
    behind_each = [sum(found) for found in near.values() if len(found) == NEAR]
    if len(others) < LEAST_OTHERS or len(behind_each) < LEAST_TIMES:
        return None
    each, rest = np.array(behind_each), np.array(others)
    error = np.hypot(
        each.std(ddof=1) / np.sqrt(len(each)), NEAR * rest.std(ddof=1) / np.sqrt(len(rest))
    )
    extra = float(each.mean() - NEAR * rest.mean())
    return Behind(part, len(each), ns_to_ms(extra), ns_to_ms(float(error)))
