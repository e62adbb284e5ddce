"""Watching a Slurm job from outside it: one watcher on each of its nodes, in a step of their own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from stepscope.errors import InputError, OptionError
from stepscope.watch.slurm_limit import ask

if TYPE_CHECKING:
    from pathlib import Path


def job_command(job_id: str, nodes: int, out: Path, interval_s: float) -> list[str]:
    """The ``srun`` line. ``--overlap`` shares what the job's own steps hold, devices included."""
    return [
        "srun",
        "--overlap",
        f"--jobid={job_id}",
        f"--nodes={nodes}",
        f"--ntasks={nodes}",
        "--ntasks-per-node=1",
        "--kill-on-bad-exit=0",
        sys.executable,
        "-m",
        "stepscope",
        "watch",
        f"--job-here={job_id}",
        f"--out={out}",
        f"--interval={interval_s}",
    ]


def watch_job(job_id: str, out: Path, interval_s: float) -> int:
    """Watches a running job until it ends or is left alone; the job goes on either way.

    Raises:
        OptionError: This machine has no Slurm.
        InputError: There is no such running job.
    """
    if shutil.which("srun") is None:
        raise OptionError("--job needs Slurm's srun, which this machine does not have")
    count = ask(
        "squeue", "--noheader", "--format=%D", "--states=running", f"--jobs={job_id}"
    ).strip()
    if not count.isdigit():
        raise InputError(f"job {job_id} is not running, or not yours")
    command = job_command(job_id, int(count), out, interval_s)
    return subprocess.run(command, check=False).returncode  # noqa: S603
