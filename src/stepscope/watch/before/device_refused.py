"""A device is there, torch was built for it, and still cannot use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """A device is there, torch was built for it, and still cannot use it."""
    torch = seen.report.torch
    if not (torch.cuda or torch.hip) or torch.available or not seen.gpus_there:
        return None
    old = "driver" in torch.error.lower() and (
        "old" in torch.error.lower() or "version" in torch.error.lower()
    )
    why = (
        "the driver is older than the CUDA that torch was built for"
        if old
        else torch.error or "torch does not say why"
    )
    return Finding(
        code="CK003", regime="device-unused", severity="high", confidence="high",
        title=f"{seen.gpus_there} GPU(s) are there, but torch cannot use them: {why}",
        evidence=(
            Evidence(name="torch was built for", value=torch.cuda or torch.hip, unit="text"),
            Evidence(name="what torch says", value=torch.error or "nothing", unit="text"),
        ),
        action=(
            "Install a build for the driver's CUDA (nvidia-smi shows the newest that it can run), or ask for a "
            "newer driver. Outside a job on a cluster this is normal: run the check inside the job."
        ),
        snippet="nvidia-smi --query-gpu=driver_version --format=csv",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK003",
    "GPU there, torch cannot use it",
    "torch.cuda.is_available() is false on a CUDA or ROCm build",
    "centres' documentation",
    find,
)
