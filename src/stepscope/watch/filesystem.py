"""Which file system a path lies on, and what kind it is."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from stepscope.schema.machine import FileSystem

NETWORK = frozenset(
    {
        "9p", "afs", "beegfs", "beegfs_nodev", "ceph", "cifs", "daos", "fuse.ceph", "fuse.dfuse",
        "fuse.glusterfs", "fuse.juicefs", "fuse.s3fs", "fuse.sshfs", "gpfs", "lustre", "mmfs", "nfs",
        "nfs4", "panfs", "pvfs2", "smb3", "smbfs", "wekafs",
    }
)  # fmt: skip
PARALLEL = frozenset({"beegfs", "beegfs_nodev", "gpfs", "lustre", "mmfs", "panfs", "wekafs"})
"""Parallel file systems: fast for large files, slow for many small ones."""
MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"})


def file_system(path: Path, mountinfo: Path = Path("/proc/self/mountinfo")) -> FileSystem:
    """The file system under a path; the nearest existing folder stands for one that is not there.

    Args:
        path: A file or folder.
        mountinfo: The kernel's table of mounts; where there is none the type is ``unknown``.
    """
    place = path.expanduser().absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    real = os.path.realpath(place)
    best, kind = "", "unknown"
    for point, name in mounts(mountinfo):
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, name
    usage = shutil.disk_usage(real)
    return FileSystem(
        path=str(path),
        mount=best,
        type=kind,
        kind=kind_of(kind),
        is_parallel=kind in PARALLEL,
        free_bytes=usage.free,
        total_bytes=usage.total,
    )


def kind_of(name: str) -> str:
    """``network``, ``memory``, ``local`` or ``unknown`` from the type's name."""
    if name in NETWORK:
        return "network"
    if name in MEMORY:
        return "memory"
    return "unknown" if name == "unknown" or name.startswith("fuse") else "local"


def mounts(mountinfo: Path) -> list[tuple[str, str]]:
    """Mount points with their types, in the order in which they were mounted."""
    found = []
    for line in whole_text(mountinfo).splitlines():
        before, _, after = line.partition(" - ")
        fields, rest = before.split(), after.split()
        if len(fields) >= 5 and rest:
            point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4])
            found.append((point, rest[0]))
    return found


def whole_text(path: Path) -> str:
    """A file of any length; ``""`` where it is not there or not for us."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
