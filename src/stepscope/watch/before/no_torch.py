"""Torch cannot be imported by the interpreter that would train."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def find(seen: Before) -> Finding | None:
    """Torch cannot be imported by the interpreter that would train."""
    torch = seen.report.torch
    if torch.version is not None:
        return None
    return Finding(
        code="CK001", regime="startup", severity="high", confidence="high",
        title=f"torch cannot be imported by {torch.python}: {torch.error}",
        evidence=(Evidence(name="interpreter", value=torch.python, unit="text"),),
        action="Activate the environment that trains, or name its interpreter with --python.",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK001",
    "torch cannot be imported",
    "import torch fails in a child process",
    "-",
    find,
)
