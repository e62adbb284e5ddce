"""Mistakes before a run about the job: where it runs and what it holds."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before

LOGIN = re.compile(r"^(int|login|uan|front|frontend|head|headnode)[-_]?\d*(\.|$)", re.IGNORECASE)
MIB_PER_GIB = 1024


def on_login_node(seen: Before) -> Finding | None:
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


def outside_the_job(seen: Before) -> Finding | None:
    """A job of the user runs on this node and this process is not in it."""
    if not seen.jobs_here or seen.report.allocation.slurm is not None:
        return None
    job = seen.jobs_here[0]
    return Finding(
        code="CK031", regime="host", severity="medium", confidence="high",
        title=f"your job {job} runs on this node, but this process is outside it: its cores, memory and GPUs are not what you see",
        evidence=(Evidence(name="SLURM_JOB_ID", value="unset", unit="text"),),
        action="Enter the job in place of logging in to the node.",
        snippet=f"srun --overlap --jobid={job} --pty bash",
    )  # fmt: skip


def more_than_the_share(seen: Before) -> Finding | None:
    """More cores or memory than the GPUs' share, which the site charges as more GPUs."""
    slurm, partition = seen.report.allocation.slurm, seen.partition
    if slurm is None or partition is None or not slurm.gpus_on_node or seen.site is None:
        return None
    gpus = slurm.gpus_on_node
    by_cores = (slurm.cores_on_node or 0) / partition.cores_per_gpu
    by_memory = (slurm.memory_mib or 0) / MIB_PER_GIB / partition.memory_gib_per_gpu
    charged = math.ceil(max(by_cores, by_memory, gpus))
    if charged <= gpus:
        return None
    what = "memory" if by_memory >= by_cores else "cores"
    return Finding(
        code="CK032", regime="device-unused", severity="high", confidence="high",
        title=f"the job asks for more {what} than {gpus} GPU(s)' share: {seen.site.name} charges {charged}",
        evidence=(
            Evidence(name="memory asked for on this node", value=(slurm.memory_mib or 0) * 2**20, unit="bytes"),
            Evidence(name="cores asked for on this node", value=slurm.cores_on_node, unit="count"),
            Evidence(name="charged each hour", value=charged * partition.units_per_gpu_hour, unit=seen.site.unit),
        ),
        action=(
            f"The share of one GPU in {partition.name} is {partition.cores_per_gpu} cores and "
            f"{partition.memory_gib_per_gpu:g} GiB; ask for no more, or use the GPUs that you pay for."
        ),
        snippet=f"#SBATCH --mem={int(gpus * partition.memory_gib_per_gpu)}G",
    )  # fmt: skip


def spread_over_nodes(seen: Before) -> Finding | None:
    """GPUs on more nodes than needed."""
    slurm, partition = seen.report.allocation.slurm, seen.partition
    if slurm is None or partition is None or not slurm.gpus_on_node or slurm.nodes < 2:
        return None
    total = slurm.gpus_on_node * slurm.nodes
    needed = math.ceil(total / partition.gpus_per_node)
    if needed >= slurm.nodes:
        return None
    return Finding(
        code="CK033", regime="communication", severity="medium", confidence="medium",
        title=f"{total} GPUs lie on {slurm.nodes} nodes, {needed} would hold them: gradients cross the network for nothing",
        evidence=(Evidence(name="GPUs in a node", value=partition.gpus_per_node, unit="count"),),
        action="Ask for whole nodes.",
        snippet=f"#SBATCH --nodes={needed} --gpus-per-node={math.ceil(total / needed)}",
    )  # fmt: skip


MISTAKES: tuple[Mistake[Before], ...] = (
    Mistake("CK030", "on a login node", "host named int*, login*, uan* and no SLURM_JOB_ID", "centres' rules of use", on_login_node),
    Mistake("CK031", "outside the job's control group", "squeue lists a job of yours on this node, SLURM_JOB_ID is unset", "Slurm documentation of pam_slurm_adopt", outside_the_job),
    Mistake("CK032", "more than the GPUs' share", "cores or memory over the partition's share for the GPUs held", "Snellius and LUMI accounting", more_than_the_share),
    Mistake("CK033", "GPUs spread over nodes", "fewer nodes would hold the job's GPUs", "Job Defense Shield", spread_over_nodes),
)  # fmt: skip
