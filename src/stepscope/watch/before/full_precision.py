"""A device with tensor cores and a script that never lowers precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """A device with tensor cores and a script that never lowers precision."""
    script = seen.report.script
    if script is None or script.error or script.framework or script.lowers_precision:
        return None
    able = [
        device
        for device in seen.report.torch.devices
        if device.capability and float(device.capability) >= 8
    ]
    if not able:
        return None
    return Finding(
        code="CK025", regime="compute", severity="low", confidence="low",
        title=f"{script.path} mentions neither TF32 nor bfloat16: {able[0].name} multiplies several times faster with them",
        evidence=(Evidence(name="compute capability", value=able[0].capability, unit="text"),),
        action="Allow TF32 for float32 matrices, or train under autocast; check that the loss still falls.",
        snippet='torch.set_float32_matmul_precision("high")\nwith torch.autocast("cuda", torch.bfloat16): ...',
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK025",
    "no TF32, no bfloat16",
    "compute capability 8.0 or newer, no word of lower precision in the script",
    "PyTorch performance guide",
    find,
)
