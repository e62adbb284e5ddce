"""Most launches have no work in the trace.

What it does:
    Fires when half of the launches or more have no kernel in the trace, although some kernels
    were recorded.

Why it costs:
    Nothing in itself, but the gaps between the kernels that were recorded may hold work that
    was not, so that nothing can be said about idle time.

Example:
    A window in which the program captures its graphs: 399 of 401 launches are recorded into a
    graph and run later.

What to try:
    Record steps after the capture; look for buffers of the profiler that overflowed.

When this is wrong:
    When the window ends while most of what it launched is still queued.

References:
    https://github.com/pytorch/pytorch/issues/188481
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

SNIPPET = """\
schedule=torch.profiler.schedule(wait=5, warmup=2, active=3),   # after warm-up and graph capture"""


def find(context: Context) -> Finding | None:
    """Rests on the links between launches and device work."""
    if not context.loses_launches:
        return None
    launches = context.results.launches
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity="high",
        title=RULE.title,
        evidence=(
            Evidence(
                name="launches without work in the trace, share of the launches",
                value=launches.unanswered_frac,
                unit="frac",
            ),
            Evidence(name="launches in the file", value=launches.count, unit="count"),
            Evidence(
                name="kernels in the file", value=context.results.gpu.kernel_count, unit="count"
            ),
        ),
        action="Record a window of whole steps after graphs have been captured. If no graph is captured, the "
        "profiler lost device work: record fewer steps.",
        snippet=SNIPPET,
        confidence="high",
    )


RULE = Rule(
    "REC004", "not-recorded", "Most launches have no work in the trace", find, __doc__ or ""
)
