"""The node around the watched processes: pressure, shared memory, busy time of its processors."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from stepscope.watch.filesystem import NETWORK, mounts
from stepscope.watch.proc_file import TICKS_PER_S, small_text

if TYPE_CHECKING:
    from pathlib import Path


def pressure_us(root: Path, resource: str, whom: str, groups: tuple[Path, ...] = ()) -> int | None:
    """Microseconds in which tasks waited for a resource, since the machine started.

    Args:
        root: Top of the file tree.
        resource: ``cpu``, ``io`` or ``memory``.
        whom: ``some`` (at least one task waited) or ``full`` (all did).
        groups: Folders of control groups whose own figure is preferred to the node's.
    """
    places = [f"{folder}/{resource}.pressure" for folder in groups]
    for path in [*places, f"{root}/proc/pressure/{resource}"]:
        match = re.search(rf"^{whom} .*total=(\d+)", small_text(path), re.MULTILINE)
        if match:
            return int(match[1])
    return None


def node_cpu_s(root: Path) -> float | None:
    """CPU time that the node has spent on anything but idling and waiting for disks.

    Time that a hypervisor took away is not in it. Guests are inside user time already.
    """
    first = small_text(f"{root}/proc/stat").split("\n", 1)[0].split()
    if len(first) < 8 or first[0] != "cpu":
        return None
    user, nice, system, _idle, _wait, irq, softirq = (int(field) for field in first[1:8])
    return (user + nice + system + irq + softirq) / TICKS_PER_S


def available_bytes(root: Path) -> int | None:
    """Memory of the node that is still to be had, caches that can go included."""
    match = re.search(
        r"^MemAvailable:\s+(\d+) kB", small_text(f"{root}/proc/meminfo"), re.MULTILINE
    )
    return int(match[1]) * 1024 if match else None


def shared_memory(path: Path) -> tuple[int, int] | None:
    """Bytes in use in and size of a memory file system; ``None`` where there is none."""
    try:
        seen = os.statvfs(path)
    except (OSError, AttributeError):
        return None
    return (seen.f_blocks - seen.f_bfree) * seen.f_frsize, seen.f_blocks * seen.f_frsize


def open_network_systems(proc: Path, pids: frozenset[int], most: int = 64) -> tuple[str, ...]:
    """Types of network file systems on which the processes have regular files open.

    Args:
        proc: Where the kernel's files are.
        pids: The processes.
        most: Open files looked at in each.
    """
    table = [
        (point, kind) for point, kind in mounts(proc / "self" / "mountinfo") if kind in NETWORK
    ]
    if not table:
        return ()
    found: set[str] = set()
    for pid in pids:
        folder = proc / str(pid) / "fd"
        try:
            names = os.listdir(folder)[:most]  # noqa: PTH208
            targets = [os.readlink(folder / name) for name in names]  # noqa: PTH115
        except OSError:
            continue
        found |= {
            kind for point, kind in table for target in targets if target.startswith(f"{point}/")
        }
    return tuple(sorted(found))
