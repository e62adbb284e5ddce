"""What the run gains when something beside its steps takes less time: arithmetic on the account of its wall time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stepscope.predict.whatif import LEAST_WIDTH
from stepscope.schema.report import Gain
from stepscope.schema.run_time import ACCOUNT_BASIS

if TYPE_CHECKING:
    from stepscope.predict.behind import Behind
    from stepscope.schema.run_time import RunPart, RunParts

TRAINING: tuple[RunPart, ...] = ("steps", "evaluation", "checkpoint", "between")
"""Parts that recur for as long as a run trains; start-up and end are paid once."""

BESIDE = 0.05
"""What interrupts training also slows the steps behind it: caches are cold, and the system still writes. Where the run
has too few steps to show it, the high end takes a twentieth of all steps for it, which is a guess."""

MOST_BEHIND = 0.5
"""No more than this share of the steps is taken to be what interruptions leave behind."""


def training_ms(time: RunParts) -> float:
    """Time of the parts that recur."""
    return sum(time.parts_ms.get(part, 0.0) for part in TRAINING)


def with_less_of(
    time: RunParts, steps: int, part: RunPart, least: float, left: tuple[Behind | None, int]
) -> Gain | None:
    """The mean step, all that recurs counted in, when a part is shortened.

    Args:
        time: The account of the run.
        steps: Steps that it trained.
        part: The part.
        least: Share of the part that goes at the low end; all of it goes at the high end, with what it leaves behind.
        left: What one interruption leaves behind, where the run shows it, and how often the part interrupted.

    Returns:
        The gain; ``None`` where there is no step, or nothing else than the part.
    """
    whole, own = training_ms(time), time.parts_ms.get(part, 0.0)
    if steps <= 0 or own <= 0 or own >= whole:
        return None
    found, times = left
    rest = whole - own
    most = BESIDE * rest if found is None else found.most_ms * times
    slow, fast = whole - least * own, rest - min(most, MOST_BEHIND * rest)
    low, high = whole / slow, whole / fast
    wider = max(math.sqrt(LEAST_WIDTH * low / high), 1.0)
    low, high = max(low / wider, 1.0), high * wider
    return Gain(
        low=low,
        high=high,
        unit="ratio",
        step_ms_low=whole / high / steps,
        step_ms_high=whole / low / steps,
        basis=ACCOUNT_BASIS,
    )
