"""How many cores this process may use at a time, and how many threads it runs on them."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


def usable_cores(own: Path = Path("/proc/self/cgroup"), root: Path = CGROUPS) -> int | None:
    """The smallest of the affinity of the process and the CPU limits of its control groups (version 2).

    A launcher such as Slurm sets one or the other. ``None`` where the system tells neither.
    """
    if hasattr(os, "sched_getaffinity"):
        known: list[int] = [len(os.sched_getaffinity(0))]
    else:
        known = [os.cpu_count() or 0]
    known += _limits(own, root)
    return min((count for count in known if count > 0), default=None)


def affinity() -> str:
    """The cores that the process may run on, as Linux lists them; ``""`` where the system does not tell."""
    if not hasattr(os, "sched_getaffinity"):
        return ""
    cores = os.sched_getaffinity(0)
    starts = sorted(core for core in cores if core - 1 not in cores)
    ends = sorted(core for core in cores if core + 1 not in cores)
    return ",".join(
        f"{first}-{last}" if last > first else str(first)
        for first, last in zip(starts, ends, strict=True)
    )


def operator_threads() -> int | None:
    """Threads that PyTorch gives an operator on the CPU; ``None`` before it is imported."""
    ask = getattr(sys.modules.get("torch"), "get_num_threads", None)
    return None if ask is None else int(ask())


def _limits(own: Path, root: Path) -> list[int]:
    """The limit of each control group around the process, in whole cores."""
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    inside = next((line[3:].strip("/") for line in lines if line.startswith("0::")), None)
    if inside is None:
        return []
    folder, found = root / inside, []
    while True:
        try:
            quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
        except (OSError, ValueError):
            quota = "max"
        if quota != "max" and int(period) > 0:
            found.append(max(1, math.floor(int(quota) / int(period))))
        if folder == root:
            return found
        folder = folder.parent
