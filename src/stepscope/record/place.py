"""Which process of a job this is, from what launchers set: torchrun and those built on it, and Slurm."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a process in its job.

    Attributes:
        rank: Its number; ``None`` when no launcher says, so that any free one will do.
        world_size: Processes of the job; 1 without a launcher.
        key: A name that all processes of the job share, on one machine at least; ``""`` for a single one.
    """

    rank: int | None
    world_size: int
    key: str = ""

    @property
    def is_one_of_many(self) -> bool:
        """Whether other processes of the same job train as well."""
        return self.world_size > 1


def place_of(environment: Mapping[str, str]) -> Place:
    """The place that the environment tells; torchrun's word comes before Slurm's."""
    rank, world = _number(environment, "RANK"), _number(environment, "WORLD_SIZE")
    if rank is not None:
        world = world or 1
        return Place(rank, world, _key(environment) if world > 1 else "")
    task, tasks = _number(environment, "SLURM_PROCID"), _number(environment, "SLURM_NTASKS")
    if task is not None and tasks is not None and tasks > 1 and "SLURM_STEP_ID" in environment:
        return Place(task, tasks, _key(environment))
    return Place(None, 1)


def _key(environment: Mapping[str, str]) -> str:
    """What the job's processes have in common: the Slurm step, else the launcher that started them."""
    job, step = environment.get("SLURM_JOB_ID"), environment.get("SLURM_STEP_ID")
    if job and step:
        return f"{job}.{step}"
    return f"{os.getppid()}-{_started(os.getppid())}"


def _started(pid: int) -> str:
    """When a process was started, in the kernel's ticks, so that a number used again is another name."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "0"
    return fields.rpartition(")")[2].split()[19]


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isdecimal() else None


def rank_in_torch() -> tuple[int, int] | None:
    """Rank and world size as torch.distributed has them; ``None`` while it has none."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def device_in_use() -> str:
    """The kind of device that the script uses by now, without waking one up."""
    torch = sys.modules.get("torch")
    for kind in ("cuda", "xpu"):
        module = getattr(torch, kind, None)
        if module is not None and module.is_initialized():
            return kind
    return "cpu"
