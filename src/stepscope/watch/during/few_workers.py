"""Steps wait for data while cores stand idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_frac
from stepscope.watch.during.figures import cores_used
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Steps wait for data while cores stand idle."""
    if not seen.is_judged or seen.wait_frac is None or seen.wait_frac <= 0.10:
        return None
    node = seen.summary.nodes[0]
    used = cores_used(node)
    if used >= node.cores - 1:
        return None
    return Finding(
        code="WA020", regime="input", severity="high", confidence="high",
        title=f"steps wait for data {format_frac(seen.wait_frac)} of the time, and {node.cores - used:.1f} cores stand idle",
        evidence=(
            Evidence(name="steps' time spent waiting for the DataLoader", value=seen.wait_frac, unit="frac"),
            Evidence(name="cores in use on average", value=used, unit="cores"),
            Evidence(name="cores that the job may use", value=node.cores, unit="count"),
        ),
        action="Give the DataLoader more workers; `stepscope tune` measures how many are best.",
        snippet=f"DataLoader(..., num_workers={max(1, int(node.cores) - 1)}, persistent_workers=True)",
        share_frac=seen.wait_frac,
    )  # fmt: skip


MISTAKE: Mistake[During] = Mistake(
    "WA020",
    "too few loader workers",
    "steps wait for the DataLoader above 10 % of their time while a core or more stands idle",
    "CSC, LUMI and Snellius advice on cores a GPU",
    find,
)
