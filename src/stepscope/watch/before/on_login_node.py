"""A login node of a cluster, outside any job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before

LOGIN = re.compile(r"^(int|login|uan|front|frontend|head|headnode)[-_]?\d*(\.|$)", re.IGNORECASE)


def find(seen: Before) -> Finding | None:
    """A login node of a cluster, outside any job."""
    report = seen.report
    if report.allocation.slurm is not None or not LOGIN.match(report.host):
        return None
    return Finding(
        code="CK030", regime="device-unused", severity="medium", confidence="medium",
        title=f"{report.host} looks like a login node: training here is forbidden at most centres",
        evidence=(Evidence(name="SLURM_JOB_ID", value="unset", unit="text"),),
        action="Run the check and the training inside a job.",
        snippet="srun --gpus=1 --cpus-per-task=8 --time=00:10:00 stepscope check train.py",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK030",
    "on a login node",
    "host named int*, login*, uan* and no SLURM_JOB_ID",
    "centres' rules of use",
    find,
)
