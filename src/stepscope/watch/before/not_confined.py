"""The job was given part of the node and nothing keeps it there, so libraries count all cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """The job was given part of the node and nothing keeps it there, so libraries count all cores."""
    allocation = seen.report.allocation
    slurm = allocation.slurm
    if slurm is None or slurm.cores_on_node is None or seen.environ.get("OMP_NUM_THREADS"):
        return None
    if (
        min(allocation.affinity, allocation.cgroup.cpu_quota or allocation.affinity)
        <= slurm.cores_on_node
    ):
        return None
    return Finding(
        code="CK011", regime="host", severity="medium", confidence="high",
        title=(
            f"the job has {slurm.cores_on_node} of {allocation.machine_cores} cores, but nothing confines it: "
            f"libraries will start {allocation.affinity} threads"
        ),
        evidence=(
            Evidence(name="cores by affinity", value=allocation.affinity, unit="count"),
            Evidence(name="cores of the job on this node", value=slurm.cores_on_node, unit="count"),
        ),
        action="Set the number of threads yourself, and num_workers to no more than the job's cores.",
        snippet=f"export OMP_NUM_THREADS={slurm.cores_per_task or slurm.cores_on_node}",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK011",
    "part of a node, not confined",
    "affinity above SLURM_CPUS_ON_NODE and OMP_NUM_THREADS unset",
    "pytorch issue 64864",
    find,
)
