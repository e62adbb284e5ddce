"""Nothing in the script could move a model to the device that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """Nothing in the script could move a model to the device that is there."""
    script = seen.report.script
    if script is None or script.error or script.framework or script.moves_to_device:
        return None
    if not seen.gpus_there:
        return None
    return Finding(
        code="CK024", regime="device-unused", severity="high", confidence="low",
        title=f"{script.path} never names a device: the model may stay on the CPU beside {seen.gpus_there} GPU(s)",
        evidence=(Evidence(name=".to, .cuda or device= in the script", value=0, unit="count"),),
        action="Move the model and each batch; if another module of yours does so, this is no mistake.",
        snippet='device = "cuda"\nmodel.to(device)\nbatch = batch.to(device, non_blocking=True)',
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK024",
    "model never moved to the GPU",
    "no .to, .cuda, device= and no known framework in the script",
    "centres' documentation",
    find,
)
