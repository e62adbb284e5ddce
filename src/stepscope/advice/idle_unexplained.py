"""The trace does not say why the device was idle.

What it does:
    Fires when at least a fifth of the steady step is device idle time whose cause was not
    recorded.

Why it costs:
    The idle time may be a large waste, but blaming anything for it would be guessing.

Example:
    A trace with CUDA activity alone: kernels and runtime calls, no operators and no Python.

What to try:
    Record CPU activity too. When graphs are replayed, record more than one replay, and compare
    the device's busy time with the time of a step without a profiler.

When this is wrong:
    When the idle time lies at the window's edges, where nothing of the program ran.

References:
    https://github.com/pytorch/pytorch/issues/192021
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.2
"""Below a fifth the known parts carry the verdict."""

SNIPPET = """\
activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],"""


def find(context: Context) -> Finding | None:
    """Rests on the part "unknown" of the partition, pauses between queued kernels left out."""
    share = context.unexplained
    if share is None or share < LEAST_SHARE:
        return None
    results = context.results
    without_host = results.facts.operator_count == 0
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity="medium",
        title=RULE.title,
        evidence=(
            Evidence(
                name=f"idle time of unknown cause, share {context.where}", value=share, unit="frac"
            ),
            Evidence(name="operators recorded", value=results.facts.operator_count, unit="count"),
            Evidence(name="graph launches", value=results.launches.graph_count, unit="count"),
        ),
        action="Record CPU activity beside the GPU's: without operators nothing tells what the host did meanwhile."
        if without_host
        else "Record a longer window of whole steps: the host waited for the device while the trace shows no work on "
        "it, so work that was launched before the window, or replayed from a graph, is missing.",
        snippet=SNIPPET if without_host else "",
        confidence="high",
        share_frac=share,
    )


RULE = Rule(
    "REC003",
    "not-recorded",
    "Idle time that the trace does not explain",
    find,
    __doc__ or "",
    explained_by=("REC004",),
)
