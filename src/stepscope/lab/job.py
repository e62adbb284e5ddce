"""The lab as a Slurm job: its script, and what a site adds to it."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.lab.server import RUNTIME_VARIABLE, server_command

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.site import Partition, Site

LOG_NAME = "lab-{}.log"
"""File of the notebooks' folder with the job's output, by the job's number."""

HOST_NAME = "host"
"""File of the runtime folder with the name of the machine that the job runs on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What is asked of Slurm; ``None`` leaves it to the site's share, else to Slurm.

    Attributes:
        folder: The notebooks' folder, seen from the nodes.
        partition: Name of a partition.
        gpus: Number of devices.
        cores: Cores of the task.
        memory: As Slurm takes it, for instance ``16G``.
        time: Time limit as Slurm takes it.
        account: What to charge.
        more: Further options, as ``sbatch`` takes them.
        idle_minutes: After so long without work notebooks and job end; 0 for never.
    """

    folder: Path
    partition: str | None = None
    gpus: int | None = None
    cores: int | None = None
    memory: str | None = None
    time: str = "01:00:00"
    account: str | None = None
    more: tuple[str, ...] = ()
    idle_minutes: int = 30


def runtime_of(folder: Path, job_id: str) -> Path:
    """The runtime folder of the server of a job."""
    return folder / runtime_name(job_id)


def runtime_name(job_id: str) -> str:
    """Its name inside the notebooks' folder."""
    return f".lab-{job_id}"


def chosen_partition(request: JobRequest, site: Site | None) -> Partition | None:
    """What the site says of the partition that is asked for."""
    if site is None or request.partition is None:
        return None
    return site.partition(request.partition)


def options(request: JobRequest, site: Site | None) -> list[str]:
    """The options of ``sbatch``, with the devices' share of cores and memory where the site tells it."""
    part = chosen_partition(request, site)
    gpus = request.gpus if request.gpus is not None else (1 if part else 0)
    cores, memory = request.cores, request.memory
    if part is not None and gpus:
        cores = part.cores_per_gpu * gpus if cores is None else cores
        memory = f"{math.floor(part.memory_gib_per_gpu * gpus)}G" if memory is None else memory
    given = {
        "--job-name": "stepscope-lab",
        "--partition": request.partition,
        "--account": request.account,
        "--nodes": 1,
        "--ntasks": 1,
        "--gpus": gpus or None,
        "--cpus-per-task": cores,
        "--mem": memory,
        "--time": request.time,
        "--output": LOG_NAME.format("%j"),
    }
    return [f"{name}={value}" for name, value in given.items() if value is not None] + list(
        request.more
    )


def script(request: JobRequest, site: Site | None) -> str:
    """The whole job script.

    The server takes the place of the shell, so that the end of the job reaches it at once.
    """
    name = runtime_name('"$SLURM_JOB_ID"')
    runtime = f"{shlex.quote(str(request.folder))}/{name}"
    command = server_command(request.folder, port=0, idle_minutes=request.idle_minutes, opens=False)
    words = [shlex.quote(word) for word in command if "allow_root" not in word]
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH {option}" for option in options(request, site)),
        *(f"# scratch here: {s.path} ({s.kind}): {s.note}" for s in (site.scratch if site else ())),
        "umask 077",
        # JupyterLab writes the address with its token there.
        f'chmod 600 "{LOG_NAME.format("$SLURM_JOB_ID")}"',
        f"export {RUNTIME_VARIABLE}={runtime}",
        f'mkdir -p "${RUNTIME_VARIABLE}"',
        f'hostname >"${RUNTIME_VARIABLE}/{HOST_NAME}"',
        f"cd {shlex.quote(str(request.folder))} || exit 1",
        "root=()",
        '[ "$(id -u)" != 0 ] || root=(--ServerApp.allow_root=True)',
        f'exec {" ".join(words)} "${{root[@]}}"',
    ]
    return "\n".join(lines) + "\n"


def charge(request: JobRequest, site: Site | None) -> str:
    """What an hour costs, as a sentence; ``""`` where the site or the partition is not known."""
    part = chosen_partition(request, site)
    if site is None or part is None:
        return ""
    gpus = request.gpus if request.gpus is not None else 1
    return f"an hour of it costs {part.units_per_gpu_hour * gpus:g} {site.unit} on {part.name}"


def tunnel(*, user: str, login: str, node: str, port: int) -> str:
    """The ``ssh`` line that brings a server on a node to the user's own machine."""
    jump = f"-J {user}@{login} " if login and login != node else ""
    return f"ssh -N -L {port}:127.0.0.1:{port} {jump}{user}@{node}"
