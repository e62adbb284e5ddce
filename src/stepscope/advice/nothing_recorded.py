"""Nothing was recorded.

What it does:
    Fires when neither an operator nor a launch nor any device work lies in the window.

Why it costs:
    The trace says nothing about training, so every figure taken from it would mislead.

Example:
    A window of five seconds in which a thread other than the profiled one trained.

What to try:
    Start the profiler in the thread and process that train, and let its schedule reach the
    loop.

When this is wrong:
    When the program really did nothing but plain Python in the window.

References:
    https://github.com/pytorch/pytorch/issues/91682
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

SNIPPET = """\
for batch in loader:
    train_step(batch)
    prof.step()        # inside the loop that trains, in the same thread"""


def find(context: Context) -> Finding | None:
    """Rests on the counts of operators, launches and kernels."""
    results = context.results
    if results.facts.usable or results.facts.gpu_recorded is False:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity="high",
        title=RULE.title,
        evidence=(
            Evidence(name="operators recorded", value=results.facts.operator_count, unit="count"),
            Evidence(name="launches recorded", value=results.launches.count, unit="count"),
            Evidence(name="kernels recorded", value=results.gpu.kernel_count, unit="count"),
        ),
        action="Open the profiler's window around the training loop itself, in the thread and process that train, "
        "and make sure that the loop runs long enough for the schedule to reach its active steps.",
        snippet=SNIPPET,
        confidence="high",
    )


RULE = Rule(
    "REC002",
    "not-recorded",
    "No training work was recorded",
    find,
    __doc__ or "",
    needs_usable=False,
)
