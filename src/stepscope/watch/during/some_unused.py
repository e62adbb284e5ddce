"""Only some of the devices were used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Only some of the devices were used."""
    idle = [device for device in seen.devices if seen.is_idle(device)]
    total = len(seen.devices)
    if not seen.is_judged or not 0 < len(idle) < total:
        return None
    return Finding(
        code="WA002", regime="device-unused", severity="high", confidence="high",
        title=f"{len(idle)} of {total} GPUs were never used",
        evidence=(
            Evidence(name="unused", value=", ".join(device.uuid for device in idle), unit="text"),
            Evidence(name="watched processes", value=sum(node.processes_peak for node in seen.summary.nodes), unit="count"),
        ),
        action="Start one process for each GPU (torchrun, or srun with as many tasks), or ask for as many as you use.",
        snippet=f"torchrun --standalone --nproc-per-node={total} train.py",
        share_frac=len(idle) / total,
    )  # fmt: skip


MISTAKE: Mistake[During] = Mistake(
    "WA002",
    "some GPUs never used",
    "the same for some of them, by UUID",
    "jobstats",
    find,
)
