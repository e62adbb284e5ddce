"""Devices were busy for a small part of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_frac
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During

RED_FRAC = 0.15
NOTE_FRAC = 0.50
SOURCE_LOW = "jobstats (red at 15 %), CSC (data loading first below 50 %)"


def find(seen: During) -> Finding | None:
    """Devices were busy for a small part of the time."""
    busy = seen.mean_busy()
    used = [device for device in seen.devices if not seen.is_idle(device)]
    if not seen.is_judged or busy is None or not used or busy >= NOTE_FRAC:
        return None
    red = busy < RED_FRAC
    return Finding(
        code="WA003", regime="input", severity="high" if red else "medium", confidence="medium",
        title=f"the GPU(s) were busy for {format_frac(busy)} of the time",
        evidence=(
            Evidence(name="time with some kernel running, mean of all GPUs", value=busy, unit="frac"),
            Evidence(name="steps' time spent waiting for the DataLoader", value=seen.wait_frac, unit="frac"),
        ),
        action="Profile a few steps: it tells whether data, the host or waiting holds them up.",
        snippet="stepscope profile train.py",
        share_frac=1 - busy,
    )  # fmt: skip


MISTAKE: Mistake[During] = Mistake(
    "WA003",
    "GPU hardly busy",
    "busy below 15 % (high) or 50 % (medium) of the time",
    SOURCE_LOW,
    find,
)
