"""The job holds more devices on this node than torch sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """The job holds more devices on this node than torch sees."""
    torch, there = seen.report.torch, seen.gpus_there
    visible = len(torch.devices)
    slurm = seen.report.allocation.slurm
    if not torch.available or not 0 < visible < there:
        return None
    if slurm is not None and slurm.tasks > 1:
        # One device for each task is how such jobs are meant to be.
        return None
    hidden = seen.report.allocation.visible_devices
    return Finding(
        code="CK005", regime="device-unused", severity="high", confidence="high",
        title=f"the job holds {there} GPUs on this node, torch sees {visible}",
        evidence=(
            Evidence(name="CUDA_VISIBLE_DEVICES", value=hidden if hidden is not None else "unset", unit="text"),
        ),
        action="Unset the variable that hides devices, or ask for as many as you use: the others are paid for.",
        snippet="unset CUDA_VISIBLE_DEVICES",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK005",
    "fewer GPUs visible than allocated",
    "torch.cuda.device_count() below the job's devices on the node, one task",
    "jobstats",
    find,
)
