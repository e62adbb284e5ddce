"""The job holds more cores than this process may run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """The job holds more cores than this process may run on."""
    allocation = seen.report.allocation
    slurm = allocation.slurm
    if slurm is None or slurm.cores_on_node is None:
        return None
    expected = slurm.cores_per_task or (slurm.cores_on_node if slurm.tasks == 1 else None)
    if expected is None or allocation.affinity >= expected:
        return None
    return Finding(
        code="CK010", regime="input", severity="high", confidence="high",
        title=f"the job asked for {expected} cores a task, this process may run on {allocation.affinity}",
        evidence=(
            Evidence(name="cores by affinity", value=allocation.affinity, unit="count"),
            Evidence(name="cores of the job on this node", value=slurm.cores_on_node, unit="count"),
        ),
        action=(
            "From Slurm 22.05 on srun does not inherit --cpus-per-task from sbatch: give it to srun, or set "
            "SRUN_CPUS_PER_TASK."
        ),
        snippet=f"export SRUN_CPUS_PER_TASK={expected}",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK010",
    "cores asked but not bound",
    "affinity below SLURM_CPUS_PER_TASK, or below the node's share for one task",
    "Slurm 22.05 release notes",
    find,
)
