"""The interpreter's packages lie on a parallel file system, so that imports are slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """The interpreter's packages lie on a parallel file system, so that imports are slow."""
    system = seen.report.environment_system
    if not system.is_parallel:
        return None
    return Finding(
        code="CK021", regime="startup", severity="low", confidence="medium",
        title=f"the Python environment lies on {system.type}: imports open thousands of small files there",
        evidence=(Evidence(name="packages", value=system.path, unit="text"),),
        action="Use a container image or a packed environment (conda-pack, squashfs) that is one file, or the site's module.",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK021",
    "Python environment on a parallel file system",
    "type of the file system under site-packages",
    "LUMI and CSC guides",
    find,
)
