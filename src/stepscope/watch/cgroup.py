"""Limits and counters of the control groups that a process is in: v1, v2 and both at once.

Slurm sets limits at the job's level and containers above it, so every group on the way up counts and
the smallest limit holds. Where the files are mounted is read, never guessed.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from stepscope.schema.allocation import CgroupLimits
from stepscope.watch.filesystem import whole_text
from stepscope.watch.proc_file import small_text

NO_LIMIT = 1 << 60
"""v1 says "no limit" with the largest multiple of the page size; nothing near it is a limit."""


class Mount(Struct, frozen=True):
    """A mounted hierarchy.

    Attributes:
        kind: ``cgroup`` (v1) or ``cgroup2``.
        root: Which of its groups is mounted.
        point: Where.
        options: Its controllers, for v1.
    """

    kind: str
    root: str
    point: str
    options: frozenset[str]


class Groups(Struct, frozen=True):
    """Folders of a process's groups and of those above them, innermost first; empty where there are none.

    Attributes:
        memory, cpu: Of the two v1 controllers.
        unified: Of v2.
        path: The process's group by the kernel's name, v1's memory controller first.
        unified_path: The same for v2.
    """

    memory: tuple[Path, ...]
    cpu: tuple[Path, ...]
    unified: tuple[Path, ...]
    path: str
    unified_path: str

    @property
    def pressure(self) -> tuple[Path, ...]:
        """Where v2 tells pressure: the job's group, the outermost named ``job_...``, then the process's own."""
        jobs = [folder for folder in self.unified if folder.name.startswith("job_")]
        return tuple(jobs[-1:]) + self.unified[:1]


def find_groups(pid: int | str = "self", root: Path = Path("/")) -> Groups:
    """The groups of a process; they stay the same while it runs.

    Args:
        pid: The process.
        root: Top of the file tree, for tests.
    """
    names = _groups(small_text(f"{root}/proc/{pid}/cgroup"))
    mounts = _mounts(whole_text(root / "proc" / "self" / "mountinfo"))
    return Groups(
        memory=tuple(_folders("memory", names, mounts, root)),
        cpu=tuple(_folders("cpu", names, mounts, root)),
        unified=tuple(_folders("", names, mounts, root)),
        path=names.get("memory", names.get("cpu", "")),
        unified_path=names.get("", ""),
    )


def limits_of(groups: Groups) -> CgroupLimits:
    """The limits that hold in groups; version ``none`` where the kernel tells nothing."""
    if groups.memory or groups.cpu:
        v1 = _limits_v1(groups.memory, groups.cpu)
        if v1.memory_bytes is not None or v1.throttled_us is not None:
            return replace(v1, path=groups.path)
    if groups.unified:
        return replace(_limits_v2(groups.unified), path=groups.unified_path)
    return CgroupLimits(version="none")


def read_limits(pid: int | str = "self", root: Path = Path("/")) -> CgroupLimits:
    """The limits that hold for a process."""
    return limits_of(find_groups(pid, root))


def _groups(text: str) -> dict[str, str]:
    """Path by controller; the v2 group has the controller ``""``."""
    groups: dict[str, str] = {}
    for line in text.splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3:
            for controller in parts[1].split(","):
                groups[controller] = parts[2]
    return groups


def _mounts(text: str) -> list[Mount]:
    found = []
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields, rest = before.split(), after.split()
        if len(fields) >= 5 and len(rest) >= 3 and rest[0] in {"cgroup", "cgroup2"}:
            options = frozenset(rest[2].split(","))
            found.append(Mount(rest[0], _unescaped(fields[3]), _unescaped(fields[4]), options))
    return found


def _unescaped(text: str) -> str:
    """A path of mountinfo, in which blanks stand as octal escapes."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _folders(
    controller: str, groups: dict[str, str], mounts: list[Mount], root: Path
) -> list[Path]:
    """Folders of the process's group and of those above it, innermost first."""
    if controller not in groups:
        return []
    for mount in mounts:
        if controller == "" and mount.kind != "cgroup2":
            continue
        if controller and (mount.kind != "cgroup" or controller not in mount.options):
            continue
        top = root / mount.point.lstrip("/")
        path = groups[controller]
        inside = path[len(mount.root) :] if mount.root != "/" else path
        if mount.root != "/" and not path.startswith(mount.root):
            # Seen from inside a container: the group's name is the host's, the mount is ours.
            inside = ""
        folder = top / inside.strip("/")
        while not folder.is_dir() and folder != top:
            folder = folder.parent
        chain = [folder]
        while folder != top:
            folder = folder.parent
            chain.append(folder)
        return chain
    return []


def _limits_v2(folders: tuple[Path, ...]) -> CgroupLimits:
    limit, holder = None, folders[0]
    quota = None
    for folder in folders:
        here = _number(f"{folder}/memory.max")
        if here is not None and (limit is None or here < limit):
            limit, holder = here, folder
        parts = small_text(f"{folder}/cpu.max").split()
        if len(parts) == 2 and parts[0].isdigit() and int(parts[1]) > 0:
            cores = int(parts[0]) / int(parts[1])
            quota = cores if quota is None else min(quota, cores)
    return CgroupLimits(
        version="v2",
        memory_limit_bytes=limit,
        memory_bytes=_number(f"{holder}/memory.current"),
        memory_peak_bytes=_number(f"{holder}/memory.peak"),
        oom_kills=_field(f"{holder}/memory.events", "oom_kill"),
        held_back=_field(f"{holder}/memory.events", "high"),
        cpu_quota=quota,
        throttled_us=_most(_field(f"{folder}/cpu.stat", "throttled_usec") for folder in folders),
    )


def _limits_v1(memory: tuple[Path, ...], cpu: tuple[Path, ...]) -> CgroupLimits:
    limit, holder = None, memory[0] if memory else None
    for folder in memory:
        here = _number(f"{folder}/memory.limit_in_bytes")
        if here is not None and here < NO_LIMIT and (limit is None or here < limit):
            limit, holder = here, folder
    quota = None
    for folder in cpu:
        allowed, period = (_number(f"{folder}/cpu.cfs_{name}_us") for name in ("quota", "period"))
        if allowed is not None and allowed > 0 and period:
            quota = allowed / period if quota is None else min(quota, allowed / period)
    throttled = _most(_field(f"{folder}/cpu.stat", "throttled_time") for folder in cpu)
    return CgroupLimits(
        version="v1",
        memory_limit_bytes=limit,
        memory_bytes=None if holder is None else _number(f"{holder}/memory.usage_in_bytes"),
        memory_peak_bytes=None
        if holder is None
        else _number(f"{holder}/memory.max_usage_in_bytes"),
        oom_kills=None if holder is None else _field(f"{holder}/memory.oom_control", "oom_kill"),
        cpu_quota=quota,
        throttled_us=None if throttled is None else throttled // 1000,
    )


def _number(path: str) -> int | None:
    """The number in a file; ``None`` for ``max``, an empty file or none."""
    text = small_text(path).strip()
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def _field(path: str, name: str) -> int | None:
    """The number behind a name in a file of names and numbers."""
    match = re.search(rf"^{name} (\d+)$", small_text(path), re.MULTILINE)
    return int(match[1]) if match else None


def _most(values: object) -> int | None:
    known = [value for value in values if value is not None]  # type: ignore[attr-defined]
    return max(known, default=None)
