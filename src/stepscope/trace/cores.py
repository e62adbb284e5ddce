"""How many cores this process may use: its affinity, and the quota of its control groups."""

from __future__ import annotations

import os
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def usable_cores(groups: Path = GROUPS, membership: Path = MEMBERSHIP) -> int:
    """Cores that may be used, at least 1; a share of a core counts as one.

    Args:
        groups: Where the control groups are mounted.
        membership: The file that names the groups of this process.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    quotas = [q for folder in _folders(groups, membership) if (q := _quota(folder)) is not None]
    return max(1, min([cores, *(int(q + 0.5) for q in quotas)]))


def _folders(groups: Path, membership: Path) -> list[Path]:
    """Folders of the process's groups and of all above them; a container sees its own as the root."""
    found = {groups, groups / "cpu"}
    for line in _text(membership).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "" or "cpu" in controllers.split(","):
            top = groups / "cpu" if controllers else groups
            inner = top / path.lstrip("/")
            found |= {inner, *(parent for parent in inner.parents if parent.is_relative_to(top))}
    return sorted(found)


def _quota(folder: Path) -> float | None:
    """Cores that a group may use, None without a limit."""
    words = _text(folder / "cpu.max").split()
    if not words:
        words = [_text(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    try:
        quota, period = (float(word) for word in words)
    except ValueError:
        return None
    return quota / period if quota > 0 and period > 0 else None


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
