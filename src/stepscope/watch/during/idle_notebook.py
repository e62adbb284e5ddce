"""A notebook holds a device that stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """A notebook holds a device that stands still."""
    idle = min(
        (device.longest_idle_s for device in seen.devices if device.longest_idle_s is not None),
        default=None,
    )
    if not seen.summary.interactive or idle is None or idle < 1800:
        return None
    return Finding(
        code="WA009", regime="device-unused", severity="medium", confidence="high",
        title=f"the notebook held its GPU(s) for {idle / 60:.0f} minutes without using them",
        evidence=(Evidence(name="longest stretch without any kernel", value=idle * 1e3, unit="ms"),),
        action="End the session when you leave it: it is paid for by the hour.",
        snippet="scancel $SLURM_JOB_ID",
    )  # fmt: skip


MISTAKE: Mistake[During] = Mistake(
    "WA009",
    "idle notebook",
    "a notebook without any kernel for 30 minutes",
    "jobstats; our threshold",
    find,
)
