"""From replays with one thing changed to a gain as a range."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.predict.period import spread_frac, step_ns
from stepscope.predict.replay import MOST_ERROR_FRAC
from stepscope.predict.simulate import simulate
from stepscope.schema.report import Gain
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.predict.graph import Graph
    from stepscope.predict.replay import Replay


LEAST_WIDTH = 1.05
"""No range is narrower. A replay knows nothing of what the change itself costs or what it leaves behind: a
hand-over, a cast, a slower kernel. That is of the order of a twentieth, by what the clinic measures."""

MOST_RATIO = 100.0
"""When a change would make the step shorter than this, what remains of it was not recorded."""


class Outcome(Struct, frozen=True):
    """A replay with something changed.

    Attributes:
        step_ns: Step time in the long run.
        spread_frac: Uncertainty of the gain from the differences between the steps, relative.
    """

    step_ns: float
    spread_frac: float


def error_frac(base: Replay) -> float:
    """Median error of the steady steps replayed unchanged."""
    steady = base.graph.is_steady if base.graph.are_steps else np.ones(1, dtype=np.bool_)
    return float(np.median(base.error_frac[steady])) if steady.any() else float("inf")


def is_withheld(base: Replay) -> bool:
    """Whether no prediction is made because the unchanged replay is off by too much."""
    return error_frac(base) > MOST_ERROR_FRAC


def outcome(base: Replay, changed: Graph) -> Outcome:
    """Replays a changed graph."""
    times = simulate(changed)
    return Outcome(step_ns(changed, times), spread_frac(changed, base.times, times))


def gain(base: Replay, outcomes: Sequence[Outcome], basis: str = "replay") -> Gain | None:
    """The range that several ways of modelling one change span.

    Its ends are those of the models, each moved outwards by the uncertainty of the gain over the steps
    and by the error of the unchanged replay, and further where the range is still narrower than
    ``LEAST_WIDTH``. No change is predicted to make the step longer, and where there is nothing to gain
    the range stays as narrow as it is.

    Args:
        base: The unchanged replay.
        outcomes: One for each way in which the change may turn out.
        basis: As in the report.

    Returns:
        The gain; ``None`` when the replay is too far off, or when hardly anything of the step would remain.
    """
    if is_withheld(base):
        return None
    now = step_ns(base.graph, base.times)
    ratios = [now / max(one.step_ns, 1.0) for one in outcomes]
    if max(ratios) > MOST_RATIO:
        return None
    margin = 1 + float(np.hypot(max(one.spread_frac for one in outcomes), error_frac(base)))
    low, high = min(ratios) / margin, max(ratios) * margin
    if low > LEAST_WIDTH:
        wider = max(math.sqrt(LEAST_WIDTH * low / high), 1.0)
        low, high = low / wider, high * wider
    low = max(low, 1.0)
    high = max(high, low)
    return Gain(
        low=low,
        high=high,
        unit="ratio",
        step_ms_low=ns_to_ms(now / high),
        step_ms_high=ns_to_ms(now / low),
        basis=basis,
    )
