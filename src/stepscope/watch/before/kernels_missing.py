"""A device whose architecture the build has no kernels for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """A device whose architecture the build has no kernels for."""
    torch = seen.report.torch
    built = [
        int(found[1])
        for name in torch.architectures
        if (found := re.match(r"(?:sm|compute)_(\d+)", name))
    ]
    if not built:
        return None
    for device in torch.devices:
        if not device.capability:
            continue
        major, minor = (int(part) for part in device.capability.split("."))
        # A kernel runs on the same major version with an equal or higher minor one, or from PTX on newer.
        same = [number for number in built if number // 10 == major and number % 10 <= minor]
        from_ptx = any(name.startswith("compute_") for name in torch.architectures)
        if not same and not (from_ptx and min(built) < major * 10 + minor):
            return Finding(
                code="CK004", regime="device-unused", severity="high", confidence="medium",
                title=f"torch {torch.version} has no kernels for {device.name} (compute capability {device.capability})",
                evidence=(Evidence(name="built for", value=", ".join(torch.architectures), unit="text"),),
                action="Install a build of torch that lists this architecture: older builds lack new devices, newer ones drop old.",
            )  # fmt: skip
    return None


MISTAKE: Mistake[Before] = Mistake(
    "CK004",
    "no kernels for this GPU",
    "compute capability not in torch.cuda.get_arch_list()",
    "CUDA's rules of binary compatibility",
    find,
)
