"""What Slurm's environment says of the job that a process is in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stepscope.schema.allocation import SlurmJob

if TYPE_CHECKING:
    from collections.abc import Mapping


def slurm_job(environ: Mapping[str, str]) -> SlurmJob | None:
    """The job that this environment is in; ``None`` outside Slurm."""
    job_id = environ.get("SLURM_JOB_ID") or environ.get("SLURM_JOBID")
    if not job_id:
        return None
    step = environ.get("SLURM_STEP_ID")
    tasks = first_number(environ, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")
    return SlurmJob(
        job_id=job_id,
        step_id=step if step and step.isdigit() else None,
        cluster=environ.get("SLURM_CLUSTER_NAME", ""),
        partition=environ.get("SLURM_JOB_PARTITION", ""),
        node=environ.get("SLURMD_NODENAME", ""),
        nodes=first_number(environ, "SLURM_JOB_NUM_NODES", "SLURM_NNODES") or 1,
        tasks=tasks or 1,
        local_id=first_number(environ, "SLURM_LOCALID"),
        node_id=first_number(environ, "SLURM_NODEID"),
        process_id=first_number(environ, "SLURM_PROCID"),
        cores_on_node=first_number(environ, "SLURM_CPUS_ON_NODE"),
        cores_per_task=first_number(environ, "SLURM_CPUS_PER_TASK"),
        memory_mib=memory_on_node(environ),
        gpus_on_node=gpus_on_node(environ),
    )


def first_number(environ: Mapping[str, str], *names: str) -> int | None:
    """The number that the first set variable starts with, as in ``4(x2)``; ``None`` without any."""
    for name in names:
        match = re.match(r"\d+", environ.get(name, ""))
        if match:
            return int(match[0])
    return None


def memory_on_node(environ: Mapping[str, str]) -> int | None:
    """Memory of the job on this node in MiB; ``None`` when Slurm does not say."""
    per_node = first_number(environ, "SLURM_MEM_PER_NODE")
    if per_node is not None:
        return per_node
    per_core = first_number(environ, "SLURM_MEM_PER_CPU")
    cores = first_number(environ, "SLURM_CPUS_ON_NODE")
    return None if per_core is None or cores is None else per_core * cores


def gpus_on_node(environ: Mapping[str, str]) -> int | None:
    """Devices of the job on this node.

    Slurm sets a count for jobs that asked by ``--gpus``, else lists: of the step inside ``srun``, of
    the job in the batch script.
    """
    count = first_number(environ, "SLURM_GPUS_ON_NODE")
    if count is not None:
        return count
    listed = environ.get("SLURM_STEP_GPUS") or environ.get("SLURM_JOB_GPUS")
    return len([word for word in listed.split(",") if word]) if listed else None
