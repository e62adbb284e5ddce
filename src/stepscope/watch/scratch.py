"""Folders that a job may write to, each with a short measured speed."""

from __future__ import annotations

import os
import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.schema.machine import ScratchFolder
from stepscope.watch.filesystem import file_system

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.schema.site import Site

USUAL = ("$SLURM_TMPDIR", "$LOCAL_SCRATCH", "$TMPDIR", "$SCRATCH", "/tmp", "/dev/shm")  # noqa: S108  named, not used blindly
BLOCK_BYTES = 1 << 20
MOST_BYTES = 32 << 20
MOST_SECONDS = 0.5
SMALL_BYTES = 4096
SMALL_FILES = 100


def scratch_folders(environ: Mapping[str, str], site: Site | None) -> tuple[ScratchFolder, ...]:
    """The site's folders, then the usual ones; each real folder once, measured where we may write."""
    candidates = [(item.path, item.note) for item in site.scratch] if site is not None else []
    candidates += [(path, "") for path in USUAL]
    seen: set[str] = set()
    found = []
    for text, note in candidates:
        path = expanded(text, environ)
        if path is None:
            continue
        real = os.path.realpath(path)
        if real in seen or not path.is_dir():
            continue
        seen.add(real)
        found.append(measured(path, note))
    return tuple(found)


def expanded(text: str, environ: Mapping[str, str]) -> Path | None:
    """A path with its variables replaced; ``None`` when one of them is not set."""
    names = re.findall(r"\$(\w+)", text)
    if any(not environ.get(name) for name in names):
        return None
    return Path(re.sub(r"\$(\w+)", lambda match: environ[match[1]], text))


def measured(path: Path, note: str) -> ScratchFolder:
    """The folder with its speed. At most 32 MiB and about a second; nothing stays behind."""
    system = file_system(path)
    if system.free_bytes < 2 * MOST_BYTES:
        return ScratchFolder(
            system=system, note=note, write_bytes_per_s=None, files_per_s=None,
            reason="it is nearly full",
        )  # fmt: skip
    try:
        with tempfile.TemporaryDirectory(prefix=".stepscope-", dir=path) as folder:
            written = write_speed(Path(folder) / "one")
            small = small_file_speed(Path(folder))
    except OSError as error:
        return ScratchFolder(
            system=system, note=note, write_bytes_per_s=None, files_per_s=None,
            reason=f"it cannot be written to ({error.strerror})",
        )  # fmt: skip
    return ScratchFolder(system=system, note=note, write_bytes_per_s=written, files_per_s=small)


def write_speed(path: Path) -> float:
    """Bytes a second of writing one file and flushing it to the disk."""
    block = os.urandom(BLOCK_BYTES)
    count = 0
    start = time.perf_counter()
    with path.open("wb") as file:
        while count < MOST_BYTES and time.perf_counter() - start < MOST_SECONDS:
            count += file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return count / (time.perf_counter() - start)


def small_file_speed(folder: Path) -> float:
    """Files a second of writing, opening, reading and removing a small file."""
    block = os.urandom(SMALL_BYTES)
    count = 0
    start = time.perf_counter()
    while count < SMALL_FILES and time.perf_counter() - start < MOST_SECONDS:
        path = folder / f"{count}"
        path.write_bytes(block)
        path.read_bytes()
        path.unlink()
        count += 1
    return count / (time.perf_counter() - start)
