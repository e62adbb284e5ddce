"""Devices were allocated and none was used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Devices were allocated and none was used."""
    idle = [device for device in seen.devices if seen.is_idle(device)]
    if not seen.is_judged or not idle or len(idle) < len(seen.devices):
        return None
    return Finding(
        code="WA001", regime="device-unused", severity="high", confidence="high",
        title=f"{len(idle)} GPU(s) were allocated and never used",
        evidence=(
            Evidence(name="time without any kernel", value=min(device.seconds for device in idle) * 1e3, unit="ms"),
            Evidence(name="mean draw", value=idle[0].watts_mean, unit="W"),
        ),
        action="See whether torch can use them (`stepscope check`) and whether model and batches are moved to them; else ask for none.",
        snippet='stepscope check train.py\nmodel.to("cuda")',
    )  # fmt: skip


MISTAKE: Mistake[During] = Mistake(
    "WA001",
    "GPU allocated, none used",
    "no kernel and no process of the job on any for 5 minutes",
    "jobstats, Job Defense Shield",
    find,
)
