"""A look at the files of a data set: how many, how large, on which file system."""

from __future__ import annotations

import os
import time
from pathlib import Path

from stepscope.errors import InputError
from stepscope.schema.machine import DataFolder
from stepscope.watch.filesystem import file_system

MOST_FILES = 2000
MOST_SECONDS = 2.0


def look_at_data(path: Path) -> DataFolder:
    """A look at no more than 2,000 files, for no more than two seconds.

    Raises:
        InputError: The path does not exist.
    """
    if not path.exists():
        raise InputError("there is no such file or folder", path=str(path))
    sizes, complete = sizes_under(path)
    return DataFolder(
        system=file_system(path),
        files=len(sizes),
        all_seen=complete,
        mean_bytes=sum(sizes) / len(sizes) if sizes else None,
    )


def sizes_under(path: Path) -> tuple[list[int], bool]:
    """Sizes of the first files, and whether they are all; folders that we may not read are left out."""
    if path.is_file():
        return [path.stat().st_size], True
    end = time.monotonic() + MOST_SECONDS
    sizes: list[int] = []
    for folder, _, names in os.walk(path):
        for name in names:
            if len(sizes) >= MOST_FILES or time.monotonic() > end:
                return sizes, False
            try:
                sizes.append((Path(folder) / name).stat().st_size)
            except OSError:
                # A link that leads nowhere, or a file that has gone: it is no file to read.
                continue
    return sizes, True
