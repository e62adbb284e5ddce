"""A DataLoader without workers, with cores to spare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.before.loader_calls import first_loader
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """A DataLoader without workers, with cores to spare."""
    loader = first_loader(seen, lambda loader: loader.workers == 0)
    cores = int(seen.report.allocation.cores)
    if loader is None or cores < 2:
        return None
    script = seen.report.script
    assert script is not None
    return Finding(
        code="CK022", regime="input", severity="medium", confidence="medium",
        title=f"{script.path}:{loader.line} makes a DataLoader with num_workers=0: training waits while each batch is made",
        evidence=(Evidence(name="cores that the job may use", value=cores, unit="count"),),
        action="Let workers load ahead; `stepscope tune` measures how many are best. For data that lie in memory 0 is right.",
        snippet=f"DataLoader(..., num_workers={min(cores - 1, 8)}, persistent_workers=True, pin_memory=True)",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK022",
    "num_workers=0",
    "DataLoader without num_workers in the script, 2 or more cores",
    "PyTorch performance guide",
    find,
)
