"""``/dev/shm`` filled up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """``/dev/shm`` filled up."""
    for node in seen.summary.nodes:
        if node.shm_bytes and node.shm_peak_bytes and node.shm_peak_bytes > 0.9 * node.shm_bytes:
            return Finding(
                code="WA025", regime="memory", severity="high", confidence="high",
                title="shared memory (/dev/shm) was nearly full: loader workers die of that with a bus error",
                evidence=(
                    Evidence(name="most in use", value=node.shm_peak_bytes, unit="bytes"),
                    Evidence(name="size", value=node.shm_bytes, unit="bytes"),
                ),
                action="Give the container more (--shm-size, --ipc=host), or lower num_workers or prefetch_factor.",
                snippet="docker run --shm-size=8g ...",
            )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA025",
    "shared memory full",
    "more than 90 % of it in use; our threshold",
    "PyTorch documentation of DataLoader",
    find,
)
