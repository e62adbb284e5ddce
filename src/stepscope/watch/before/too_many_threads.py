"""Tasks on this node times threads each are more than the cores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake
from stepscope.watch.slurm_job import first_number

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """Tasks on this node times threads each are more than the cores."""
    allocation = seen.report.allocation
    threads = first_number(seen.environ, "OMP_NUM_THREADS") or seen.report.torch.threads
    tasks = first_number(seen.environ, "LOCAL_WORLD_SIZE")
    slurm = allocation.slurm
    if tasks is None and slurm is not None:
        tasks = math.ceil(slurm.tasks / slurm.nodes)
    cores = allocation.cores
    if slurm is not None and slurm.cores_on_node is not None and (slurm.tasks > 1):
        cores = max(cores, slurm.cores_on_node)
    if threads is None or tasks is None or tasks * threads <= cores:
        return None
    good = max(1, int(cores // tasks))
    return Finding(
        code="CK012", regime="host", severity="medium", confidence="medium",
        title=f"{tasks} task(s) x {threads} threads on {cores:g} core(s): they will take turns",
        evidence=(
            Evidence(name="threads of one task", value=threads, unit="count"),
            Evidence(name="tasks on this node", value=tasks, unit="count"),
            Evidence(name="cores", value=cores, unit="count"),
        ),
        action="Give each task its share of the cores, less those that its loader workers need.",
        snippet=f"export OMP_NUM_THREADS={good}",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK012",
    "more threads than cores",
    "tasks on the node x threads above the cores",
    "pytorch issue 64864",
    find,
)
