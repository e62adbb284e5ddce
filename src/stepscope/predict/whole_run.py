"""What the run gains when something beside its steps takes less time: arithmetic on the account of its wall time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Gain
from stepscope.schema.run_time import ACCOUNT_BASIS

if TYPE_CHECKING:
    from stepscope.schema.run_time import RunPart, RunParts

TRAINING: tuple[RunPart, ...] = ("steps", "evaluation", "checkpoint", "between")
"""Parts that recur for as long as a run trains; start-up and end are paid once."""

BESIDE = 1.05
"""What interrupts training also slows the steps behind it: caches are cold, and the system still writes. A twentieth is
an estimate from a few runs of programs that checkpoint and evaluate, no figure that holds on every machine."""


def training_ms(time: RunParts) -> float:
    """Time of the parts that recur."""
    return sum(time.parts_ms.get(part, 0.0) for part in TRAINING)


def with_less_of(time: RunParts, steps: int, part: RunPart, least: float) -> Gain | None:
    """The mean step, all that recurs counted in, when a part is shortened.

    Args:
        time: The account of the run.
        steps: Steps that it trained.
        part: The part.
        least: Share of the part that goes at the low end; all of it goes at the high end, with what it leaves behind.

    Returns:
        The gain; ``None`` where there is no step, or nothing else than the part.
    """
    whole, own = training_ms(time), time.parts_ms.get(part, 0.0)
    if steps <= 0 or own <= 0 or own >= whole:
        return None
    slow, fast = whole - least * own, whole - own
    return Gain(
        low=whole / slow,
        high=BESIDE * whole / fast,
        unit="ratio",
        step_ms_low=fast / BESIDE / steps,
        step_ms_high=slow / steps,
        basis=ACCOUNT_BASIS,
    )
