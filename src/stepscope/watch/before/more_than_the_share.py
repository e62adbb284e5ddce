"""More cores or memory than the GPUs' share, which the site charges as more GPUs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before

MIB_PER_GIB = 1024


def find(seen: Before) -> Finding | None:
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


MISTAKE: Mistake[Before] = Mistake(
    "CK032",
    "more than the GPUs' share",
    "cores or memory over the partition's share for the GPUs held",
    "Snellius and LUMI accounting",
    find,
)
