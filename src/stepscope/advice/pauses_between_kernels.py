"""Pauses between queued kernels add up.

What it does:
    Fires when 15 % of the steady step or more is idle time before kernels that had been queued
    in time.

Why it costs:
    The device needs one to two microseconds from one kernel to the next. Where kernels are
    hardly longer, the pauses take as much as the work.

Example:
    Ten thousand kernels of 3 us in a replayed graph, each followed by 1.5 us of nothing.

What to try:
    Fuse small kernels (``torch.compile``), use fused optimizers, larger batches.

When this is wrong:
    When kernels wait for each other over streams or for a copy that was not recorded.

References:
    https://developer.nvidia.com/blog/understanding-the-visualization-of-overhead-and-latency-in-nsight-systems/
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_us

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.15
"""Ordinary training loses one to five per cent to these pauses."""

SNIPPET = """\
model = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)"""


def find(context: Context) -> Finding | None:
    """Rests on the gaps whose next kernel had been launched long before."""
    share, launches = context.pauses, context.results.launches
    if share is None or share < LEAST_SHARE:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            Evidence(
                name=f"pauses between queued kernels, share {context.where}",
                value=share,
                unit="frac",
            ),
            Evidence(
                name=f"pauses {context.each}",
                value=launches.pause_count / context.steady_count,
                unit="count",
            ),
            Evidence(
                name="mean pause",
                value=ns_to_us(launches.pause_ns / max(launches.pause_count, 1)),
                unit="us",
            ),
            Evidence(
                name="mean kernel duration",
                value=ns_to_us(launches.mean_kernel_ns) if launches.mean_kernel_ns else None,
                unit="us",
            ),
        ),
        action="Make fewer and longer kernels: fuse them with torch.compile, use a fused optimizer, or give each "
        "a larger batch.",
        snippet=SNIPPET,
        confidence="medium",
        share_frac=share,
    )


RULE = Rule(
    "PK001",
    "compute",
    "Pauses between queued kernels add up",
    find,
    __doc__ or "",
    explained_by=("REC004",),
)
