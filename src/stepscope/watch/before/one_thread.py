"""``torchrun`` sets one thread silently where nothing was set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake
from stepscope.watch.slurm_job import first_number

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
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


MISTAKE: Mistake[Before] = Mistake(
    "CK013",
    "torchrun set one thread",
    "OMP_NUM_THREADS=1 under torchrun with 4 or more cores a task",
    "LUMI-AI-Guide issue 110",
    find,
)
