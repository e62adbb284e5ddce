"""Nodes of a Slurm cluster as workers, for as long as one analysis lasts."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from stepscope.errors import MissingExtraError, OptionError
from stepscope.job.workers import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "slurm:"
"""``slurm:4`` stands for four nodes."""

ASK_S = 30
"""Slurm answers questions within this time, or counts as absent."""


def nodes_of(text: str) -> int | None:
    """Number of nodes that ``slurm:N`` asks for; ``None`` for another text.

    Raises:
        OptionError: What follows is no number of nodes.
    """
    if not text.startswith(PREFIX):
        return None
    count = text.removeprefix(PREFIX)
    if not count.isdecimal() or int(count) < 1:
        raise OptionError(f"{text!r} does not name a number of nodes, for instance slurm:4")
    return int(count)


@contextmanager
def slurm_workers(count: int) -> Iterator[Cluster]:
    """Submits one job a node, each with a process a core, and ends them in the end.

    Lost nodes are asked for anew. Size, partition and account are those of dask-jobqueue's configuration, else
    whole nodes of the default partition; sbatch itself reads SBATCH_PARTITION, SBATCH_ACCOUNT and the like.

    Args:
        count: Nodes.

    Raises:
        MissingExtraError: dask-jobqueue is not installed.
        OptionError: There is no Slurm, or it refuses such a job.
    """
    try:
        jobqueue: Any = import_module("dask_jobqueue")
        dask: Any = import_module("dask")
    except ModuleNotFoundError:
        raise MissingExtraError(
            "Slurm nodes as workers need the extra: pip install 'stepscope[distributed]'"
        ) from None
    settings = dask.config.get("jobqueue.slurm", {})
    size: dict[str, Any] = {}
    if settings.get("cores") is None or settings.get("memory") is None:
        cores, megabytes = _node_size()
        size = {"cores": cores, "memory": f"{megabytes} MB"}
    cores = settings.get("cores") or size["cores"]
    if settings.get("processes") is None:
        size["processes"] = cores
    if settings.get("log-directory") is None:
        size["job_extra_directives"] = [
            *(settings.get("job-extra-directives") or []),
            "--output=/dev/null",
        ]
    with jobqueue.SLURMCluster(scheduler_options={"dashboard_address": ":0"}, **size) as cluster:
        _refuse_impossible(cluster.job_script())
        cluster.adapt(minimum_jobs=count, maximum_jobs=count)
        yield Cluster(cluster.scheduler_address)


def _node_size() -> tuple[int, int]:
    """Cores and megabytes that every node of the default partition has."""
    told = _ask("sinfo", "--noheader", "--exact", "--format=%P %c %m").stdout
    rows = [line.split() for line in told.splitlines()]
    rows = [row for row in rows if row[0].endswith("*")] or rows
    if not rows:
        raise OptionError("Slurm knows of no nodes")
    # A node of many sizes in one partition is told as the smallest with a plus behind it.
    sizes = [(int(cores.rstrip("+")), int(memory.rstrip("+"))) for _, cores, memory in rows]
    return min(cores for cores, _ in sizes), min(memory for _, memory in sizes)


def _refuse_impossible(script: str) -> None:
    """Slurm's word about a job before it is submitted, because dask waits without end for one that is refused."""
    told = _ask("sbatch", "--test-only", text=script)
    if told.returncode:
        lines = told.stderr.strip().splitlines() or ["it does not say why"]
        raise OptionError(f"Slurm refuses the job: {lines[0]}")


def _ask(*command: str, text: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603  Slurm's own programs
            command, input=text, capture_output=True, text=True, timeout=ASK_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise OptionError(
            f"{command[0]} cannot be asked, so there is no Slurm here: {error}"
        ) from None
