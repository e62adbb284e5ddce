"""Kernels are too small to fill the device.

What it does:
    Fires when kernels run for 70 % of the steady step or more but fill less than 30 % of the
    multiprocessors while they do.

Why it costs:
    The device counts as busy while most of it does nothing.

Example:
    A batch of one: each kernel has a few blocks for a hundred multiprocessors.

What to try:
    A larger batch, several streams or models beside each other, or a smaller share of the
    device (MIG).

When this is wrong:
    The estimate counts blocks, not work: few blocks with many threads that stream from memory
    can be enough.

References:
    https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html#thread-and-block-heuristics
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_BUSY = 0.7
"""Below, idle time is the first thing to cure."""

MOST_FILLED = 0.3
"""Far below what ordinary training kernels reach (0.7 and more)."""

SNIPPET = """\
loader = DataLoader(dataset, batch_size=4 * batch_size)   # while memory and convergence allow"""


def find(context: Context) -> Finding | None:
    """Rests on the profiler's blocks per multiprocessor."""
    share, filled = context.share("compute"), context.results.gpu.sm_efficiency_frac
    busy = context.results.gpu.busy_frac
    if share is None or filled is None or not busy or share < LEAST_BUSY:
        return None
    fill = filled / busy
    if fill >= MOST_FILLED:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share * (1 - fill)),
        title=RULE.title,
        evidence=(
            *context.part_evidence("compute", "kernels running"),
            Evidence(
                name="estimated share of multiprocessors with work while the device is busy",
                value=fill,
                unit="frac",
            ),
            Evidence(
                name="estimated achieved occupancy",
                value=context.results.gpu.occupancy_frac,
                unit="frac",
            ),
        ),
        action="Give each kernel more work: a larger batch while memory allows, or larger operators by torch.compile.",
        snippet=SNIPPET,
        confidence="low",
        share_frac=share * (1 - fill),
    )


RULE = Rule(
    "GF001",
    "compute",
    "Kernels are too small to fill the device",
    find,
    __doc__ or "",
    explained_by=("REC004",),
)
