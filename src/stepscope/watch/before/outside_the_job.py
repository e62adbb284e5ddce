"""A job of the user runs on this node and this process is not in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
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


MISTAKE: Mistake[Before] = Mistake(
    "CK031",
    "outside the job's control group",
    "squeue lists a job of yours on this node, SLURM_JOB_ID is unset",
    "Slurm documentation of pam_slurm_adopt",
    find,
)
