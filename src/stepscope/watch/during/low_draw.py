"""Kernels run all the time and the device draws little: it waits, or works on small things."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_frac
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Kernels run all the time and the device draws little: it waits, or works on small things."""
    if not seen.is_judged:
        return None
    for device in seen.devices:
        # Where the activity of the multiprocessors is told, it says the same better.
        if device.busy_frac is None or device.watts_mean is None or not device.watts_limit:
            continue
        share = device.watts_mean / device.watts_limit
        if device.working_frac is None and device.busy_frac > 0.9 and share < 0.4:
            return Finding(
                code="WA005", regime="compute", severity="medium", confidence="medium",
                title=f"the GPU looks {format_frac(device.busy_frac)} busy and draws {format_frac(share)} of its power",
                evidence=(
                    Evidence(name="mean draw", value=device.watts_mean, unit="W"),
                    Evidence(name="power limit", value=device.watts_limit, unit="W"),
                ),
                action="Some kernel always runs, but little is computed: a larger batch, lower precision, or a profile.",
                snippet="stepscope profile train.py",
            )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA005",
    "busy but drawing little",
    "busy above 90 %, mean draw below 40 % of the limit, activity not told",
    "LUMI guide; our threshold",
    find,
)
