"""Many cores, one in use, and no device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.during.figures import cores_used
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Many cores, one in use, and no device."""
    if not seen.is_judged or seen.summary.devices or len(seen.summary.nodes) != 1:
        return None
    node = seen.summary.nodes[0]
    used = cores_used(node)
    if node.cores < 4 or not 0.8 <= used <= 1.2:
        return None
    return Finding(
        code="WA029", regime="host", severity="medium", confidence="medium",
        title=f"one of {node.cores:g} cores worked: the program looks serial",
        evidence=(Evidence(name="cores in use on average", value=used, unit="cores"),),
        action="Ask for one core, or see why torch's threads and the loader's workers stay idle.",
        snippet="python -c 'import torch; print(torch.__config__.parallel_info())'",
    )  # fmt: skip


MISTAKE: Mistake[During] = Mistake(
    "WA029",
    "serial program on many cores",
    "0.8 to 1.2 of 4 or more cores in use, no device",
    "jobstats",
    find,
)
