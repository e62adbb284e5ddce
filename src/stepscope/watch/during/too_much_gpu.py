"""A small job on a large device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_frac
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During

RED_FRAC = 0.15


def find(seen: During) -> Finding | None:
    """A small job on a large device."""
    busy = seen.mean_busy()
    if not seen.is_judged or busy is None or busy >= RED_FRAC:
        return None
    shares = [
        device.memory_peak_bytes / device.memory_bytes
        for device in seen.devices
        if device.memory_peak_bytes is not None and device.memory_bytes
    ]
    used = [device for device in seen.devices if not seen.is_idle(device)]
    if not used or len(shares) < len(seen.devices) or max(shares) >= 0.25:
        return None
    return Finding(
        code="WA008", regime="device-unused", severity="low", confidence="medium",
        title=f"the job needs a small part of its GPU(s): {format_frac(max(shares))} of the memory, {format_frac(busy)} of the time",
        evidence=(
            Evidence(name="peak memory of the fullest GPU", value=max(shares), unit="frac"),
            Evidence(name="busy share", value=busy, unit="frac"),
        ),
        action="A MIG slice or a smaller GPU costs less; or run several such jobs on one.",
        snippet="#SBATCH --partition=gpu_mig",
    )  # fmt: skip


MISTAKE: Mistake[During] = Mistake(
    "WA008",
    "GPU too large",
    "peak memory below 25 % and busy below 15 %",
    "Job Defense Shield",
    find,
)
