"""The other ranks of a job, for whom the one that reports waits."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING

from stepscope.schema.run_folder import is_complete

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_S = 20
"""So long a rank that has not written all is waited for."""


def wait_for_others(folder: Path, world_size: int) -> None:
    """Until all ranks of the job have written all, or for a few seconds.

    Args:
        folder: The run folder.
        world_size: Ranks of the job.
    """
    deadline = monotonic() + PATIENCE_S
    while monotonic() < deadline and not all(is_complete(folder, n) for n in range(world_size)):
        sleep(0.1)
