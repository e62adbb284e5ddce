"""A DataLoader with more workers than there are cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.before.loader_calls import first_loader
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """A DataLoader with more workers than there are cores."""
    cores = int(seen.report.allocation.cores)
    loader = first_loader(
        seen, lambda loader: loader.workers is not None and loader.workers > cores
    )
    if loader is None:
        return None
    script = seen.report.script
    assert script is not None
    return Finding(
        code="CK023", regime="input", severity="medium", confidence="high",
        title=f"{script.path}:{loader.line} asks for {loader.workers} loader workers on {cores} core(s)",
        evidence=(
            Evidence(name="num_workers", value=loader.workers, unit="count"),
            Evidence(name="cores that the job may use", value=cores, unit="count"),
        ),
        action="More workers than cores take turns and fill memory; take at most one a core.",
        snippet=f"DataLoader(..., num_workers={max(1, cores - 1)})",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK023",
    "more workers than cores",
    "num_workers in the script above the allocation's cores",
    "PyTorch's own warning",
    find,
)
