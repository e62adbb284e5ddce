"""A device is there, and torch was built without any support for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """A device is there, and torch was built without any support for it."""
    torch = seen.report.torch
    if torch.version is None or torch.cuda or torch.hip or torch.other or not seen.gpus_there:
        return None
    return Finding(
        code="CK002", regime="device-unused", severity="high", confidence="high",
        title=f"{seen.gpus_there} GPU(s) are there, but torch {torch.version} is a build for CPUs only",
        evidence=(
            Evidence(name="GPUs of the job on this node", value=seen.gpus_there, unit="count"),
            Evidence(name="torch.version.cuda", value="None", unit="text"),
        ),
        action="Install the build for this machine's CUDA or ROCm; the selector on pytorch.org gives the line.",
        snippet="pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu126",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK002",
    "GPU there, CPU build of torch",
    "torch.version.cuda and hip are None while the job or the driver has a device",
    "centres' documentation",
    find,
)
