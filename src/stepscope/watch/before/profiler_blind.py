"""A tiny profile on a device held no kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """A tiny profile on a device held no kernel."""
    if seen.report.torch.profiler_sees_device is not False:
        return None
    return Finding(
        code="CK006", regime="not-recorded", severity="medium", confidence="high",
        title="torch.profiler records no GPU events on this machine",
        evidence=(Evidence(name="kernels in a tiny profile", value=0, unit="count"),),
        action=(
            "Another tool may hold the GPU's profiling interface (nsys, ncu, DCGM's profiling metrics: "
            "`dcgmi profile --pause` releases it), the driver may keep it for administrators "
            "(NVreg_RestrictProfilingToAdminUsers=0), or the machine is WSL with an old driver. CPU events are "
            "recorded all the same."
        ),
        snippet="dcgmi profile --pause",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK006",
    "profiler cannot see the GPU",
    "a profile of one kernel holds none",
    "pytorch issues, DCGM issue 56",
    find,
)
