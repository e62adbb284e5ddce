"""GPUs on more nodes than needed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
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


MISTAKE: Mistake[Before] = Mistake(
    "CK033",
    "GPUs spread over nodes",
    "fewer nodes would hold the job's GPUs",
    "Job Defense Shield",
    find,
)
