"""How long the steps take and how much they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace

MADS = 5.0
"""Distance from the median, in scaled median absolute deviations, beyond which a step is an outlier."""

LEAST_EXCESS = 0.10
"""A step within a tenth of the median is never called an outlier, however even the others are."""


class Spread(Struct, frozen=True, eq=False):
    """Durations of the steps, or of the windows when there are none.

    Attributes:
        are_steps: Whether steps could be told apart.
        numbers: The steps' numbers, shape ``(n,)``.
        durations_ns: Shape ``(n,)``, at least one.
        is_startup: Shape ``(n,)``.
        is_partial: Shape ``(n,)``.
        is_steady: Steps that steady figures rest on, shape ``(n,)``.
        mean_ns, median_ns, p95_ns: Over all of them.
        steady_mean_ns: Mean of the steady ones; ``None`` when none remains.
        outliers: Positions of steady steps far from the median of the steady ones.
    """

    are_steps: bool
    numbers: Ints
    durations_ns: Ints
    is_startup: Bools
    is_partial: Bools
    is_steady: Bools
    mean_ns: float
    median_ns: float
    p95_ns: float
    steady_mean_ns: float | None
    outliers: tuple[int, ...]


def run(trace: Trace) -> Spread:
    """Durations, their spread and the steps that stand out."""
    scope = scope_of(trace)
    durations, steady = scope.lengths_ns, scope.is_steady
    return Spread(
        are_steps=scope.are_steps,
        numbers=scope.numbers,
        durations_ns=durations,
        is_startup=scope.is_startup,
        is_partial=scope.is_partial,
        is_steady=steady,
        mean_ns=float(durations.mean()),
        median_ns=float(np.median(durations)),
        p95_ns=float(np.percentile(durations, 95)),
        steady_mean_ns=float(durations[steady].mean()) if steady.any() else None,
        outliers=_outliers(durations, steady),
    )


def _outliers(durations: Ints, steady: Bools) -> tuple[int, ...]:
    """Steady steps beyond :data:`MADS` deviations; none below four steps, where a median says little."""
    if steady.sum() < 4:
        return ()
    median = float(np.median(durations[steady]))
    # 1.4826 makes the median absolute deviation of a normal distribution its standard deviation.
    deviation = 1.4826 * float(np.median(np.abs(durations[steady] - median)))
    limit = max(MADS * deviation, LEAST_EXCESS * median)
    return tuple(np.flatnonzero(steady & (np.abs(durations - median) > limit)).tolist())


ANALYSIS = Analysis("spread", run, "Step durations, their spread and outliers.")
