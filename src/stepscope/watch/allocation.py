"""What this process may use: affinity, control groups, Slurm."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from stepscope.schema.allocation import Allocation
from stepscope.watch.cgroup import read_limits
from stepscope.watch.slurm_job import slurm_job

if TYPE_CHECKING:
    from collections.abc import Mapping

HIDING = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
"""Variables that hide devices, in the order in which they are looked at."""


def read_allocation(
    environ: Mapping[str, str], pid: int | None = None, root: Path = Path("/")
) -> Allocation:
    """What a process may use; this one without ``pid``.

    Args:
        environ: The process's environment.
        pid: The process.
        root: Top of the file tree, for tests.
    """
    machine = os.cpu_count() or 1
    affinity = affinity_of(pid, machine)
    cgroup = read_limits("self" if pid is None else pid, root)
    cores, where = float(affinity), "affinity" if affinity < machine else "machine"
    if cgroup.cpu_quota is not None and cgroup.cpu_quota < cores:
        cores, where = cgroup.cpu_quota, "cgroup quota"
    job = slurm_job(environ)
    if job is not None and job.cores_on_node is not None and job.cores_on_node < cores:
        # A Slurm without control groups confines nothing, and still gives only these.
        cores, where = float(job.cores_on_node), "Slurm"
    total = psutil.virtual_memory().total
    limit = cgroup.memory_limit_bytes
    return Allocation(
        cores=cores,
        cores_from=where,
        affinity=affinity,
        machine_cores=machine,
        memory_limit_bytes=limit if limit is not None and limit < total else None,
        machine_memory_bytes=total,
        cgroup=cgroup,
        slurm=job,
        visible_devices=next((environ[name] for name in HIDING if name in environ), None),
    )


def affinity_of(pid: int | None, machine: int) -> int:
    """Cores that the scheduler may run a process on; all of them where the system does not tell.

    ``os.cpu_count`` gives the machine's, which is not what a job on part of a node has.
    """
    if not hasattr(os, "sched_getaffinity"):
        return machine
    try:
        return len(os.sched_getaffinity(pid or 0))
    except OSError:
        return machine
