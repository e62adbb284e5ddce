"""Mistakes before a run about cores, threads and memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake
from stepscope.watch.slurm_job import first_number

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before

SMALL_SHM_BYTES = 1 << 30


def cores_not_bound(seen: Before) -> Finding | None:
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


def not_confined(seen: Before) -> Finding | None:
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


def too_many_threads(seen: Before) -> Finding | None:
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


def one_thread(seen: Before) -> Finding | None:
    """``torchrun`` sets one thread silently where nothing was set."""
    allocation = seen.report.allocation
    started_by_torchrun = "TORCHELASTIC_RUN_ID" in seen.environ
    tasks = first_number(seen.environ, "LOCAL_WORLD_SIZE") or 1
    share = int(allocation.cores // tasks)
    if not started_by_torchrun or seen.environ.get("OMP_NUM_THREADS") != "1" or share < 4:
        return None
    return Finding(
        code="CK013", regime="host", severity="low", confidence="medium",
        title=f"torchrun set OMP_NUM_THREADS=1, and each task has {share} cores",
        evidence=(Evidence(name="cores a task", value=share, unit="count"),),
        action="Set it yourself before torchrun when operators on the CPU matter; leave cores for loader workers.",
        snippet=f"export OMP_NUM_THREADS={max(1, share // 2)}",
    )  # fmt: skip


def small_shared_memory(seen: Before) -> Finding | None:
    """``/dev/shm`` is too small for loader workers to hand batches over."""
    system = seen.report.shared_memory
    if system is None or system.free_bytes >= SMALL_SHM_BYTES:
        return None
    script = seen.report.script
    uses_workers = script is None or any(loader.workers != 0 for loader in script.loaders)
    if not uses_workers:
        return None
    return Finding(
        code="CK014", regime="memory", severity="medium", confidence="medium",
        title="shared memory (/dev/shm) is small: loader workers hand their batches over through it",
        evidence=(
            Evidence(name="free in /dev/shm", value=system.free_bytes, unit="bytes"),
            Evidence(name="size of /dev/shm", value=system.total_bytes, unit="bytes"),
        ),
        action="In a container give it more (--shm-size=8g, or --ipc=host); else lower num_workers or prefetch_factor.",
        snippet="docker run --shm-size=8g ...",
    )  # fmt: skip


MISTAKES: tuple[Mistake[Before], ...] = (
    Mistake("CK010", "cores asked but not bound", "affinity below SLURM_CPUS_PER_TASK, or below the node's share for one task", "Slurm 22.05 release notes", cores_not_bound),
    Mistake("CK011", "part of a node, not confined", "affinity above SLURM_CPUS_ON_NODE and OMP_NUM_THREADS unset", "pytorch issue 64864", not_confined),
    Mistake("CK012", "more threads than cores", "tasks on the node x threads above the cores", "pytorch issue 64864", too_many_threads),
    Mistake("CK013", "torchrun set one thread", "OMP_NUM_THREADS=1 under torchrun with 4 or more cores a task", "LUMI-AI-Guide issue 110", one_thread),
    Mistake("CK014", "shared memory too small", "less than 1 GiB free; our threshold", "PyTorch documentation of DataLoader", small_shared_memory),
)  # fmt: skip
