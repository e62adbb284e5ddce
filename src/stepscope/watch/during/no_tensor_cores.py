"""The multiprocessors work and the tensor cores do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """The multiprocessors work and the tensor cores do not."""
    if not seen.is_judged:
        return None
    for device in seen.devices:
        if device.working_frac is None or device.tensor_frac is None:
            continue
        if device.working_frac > 0.5 and device.tensor_frac < 0.01:
            return Finding(
                code="WA007", regime="compute", severity="medium", confidence="medium",
                title="the GPU works hard and its tensor cores stand still",
                evidence=(
                    Evidence(name="activity of its multiprocessors", value=device.working_frac, unit="frac"),
                    Evidence(name="activity of its tensor cores", value=device.tensor_frac, unit="frac"),
                ),
                action="Allow TF32, or train under autocast with bfloat16; check that the loss still falls.",
                snippet='torch.set_float32_matmul_precision("high")\nwith torch.autocast("cuda", torch.bfloat16): ...',
            )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA007",
    "tensor cores stand still",
    "multiprocessors above 50 % active, tensor cores below 1 %",
    "NVIDIA DCGM documentation; our threshold",
    find,
)
