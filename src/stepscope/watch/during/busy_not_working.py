"""Kernels run all the time and the multiprocessors hardly work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_frac
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Kernels run all the time and the multiprocessors hardly work."""
    if not seen.is_judged:
        return None
    for device in seen.devices:
        if device.busy_frac is None or device.working_frac is None:
            continue
        if device.busy_frac > 0.8 and device.working_frac < 0.5:
            return Finding(
                code="WA004", regime="compute", severity="medium", confidence="medium",
                title=f"the GPU looks {format_frac(device.busy_frac)} busy and works {format_frac(device.working_frac)}",
                evidence=(
                    Evidence(name="time with some kernel running", value=device.busy_frac, unit="frac"),
                    Evidence(name="activity of its multiprocessors", value=device.working_frac, unit="frac"),
                ),
                action="Kernels are too small to fill it, or wait for memory or other ranks: a larger batch, torch.compile, or a profile tells.",
                snippet="stepscope profile train.py",
            )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA004",
    "busy but not working",
    "busy above 80 %, multiprocessors below 50 % active",
    "NVIDIA: below 0.5 likely ineffective",
    find,
)
