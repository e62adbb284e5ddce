"""``/dev/shm`` is too small for loader workers to hand batches over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before

SMALL_SHM_BYTES = 1 << 30


def find(seen: Before) -> Finding | None:
    """``/dev/shm`` is too small for loader workers to hand batches over."""
    system = seen.report.shared_memory
    if system is None or system.free_bytes >= SMALL_SHM_BYTES:
        return None
    script = seen.report.script
    uses_workers = script is None or any(loader.workers != 0 for loader in script.loaders)
    if not uses_workers:
        return None
    return Finding(
        code="CK014", regime="memory", severity="medium", confidence="medium",
        title="shared memory (/dev/shm) is small: loader workers hand their batches over through it",
        evidence=(
            Evidence(name="free in /dev/shm", value=system.free_bytes, unit="bytes"),
            Evidence(name="size of /dev/shm", value=system.total_bytes, unit="bytes"),
        ),
        action="In a container give it more (--shm-size=8g, or --ipc=host); else lower num_workers or prefetch_factor.",
        snippet="docker run --shm-size=8g ...",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK014",
    "shared memory too small",
    "less than 1 GiB free; our threshold",
    "PyTorch documentation of DataLoader",
    find,
)
