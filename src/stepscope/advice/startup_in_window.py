"""Start-up lies in the recorded window.

What it does:
    Fires when first calls (contexts, loading of kernels, the search for convolution algorithms,
    compilation) hold much of the recorded time, or when no steady step remains at all.

Why it costs:
    Nothing in a long run, but figures that mix start-up and steady state describe neither.

Example:
    The first of 30 steps takes 4.4 s because of the first convolution, the others 0.2 s.

What to try:
    Record later: let some steps pass before the window opens.

When this is wrong:
    When the program's runs are so short that start-up is the cost.

References:
    https://pytorch.org/docs/stable/profiler.html#torch.profiler.schedule
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.2
"""A short start-up step beside many steady ones is normal and already left out of the figures."""

SNIPPET = """\
schedule=torch.profiler.schedule(wait=5, warmup=2, active=3),"""


def find(context: Context) -> Finding | None:
    """Rests on the steps that the reader marked, and on first calls where there are no steps."""
    startup = context.results.startup
    if startup.share < LEAST_SHARE:
        return None
    left = context.steady_count if context.has_steps else 0
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity="low" if left else "high",
        title=RULE.title,
        evidence=(
            Evidence(name="start-up, share of the recorded time", value=startup.share, unit="frac"),
            Evidence(name="start-up in the recorded time", value=ns_to_ms(startup.ns), unit="ms"),
            Evidence(name="start-up steps", value=startup.steps, unit="count"),
            Evidence(name="steady steps left", value=left, unit="count"),
        ),
        action="Let at least five steps pass before recording, so that contexts, kernels, algorithm "
        "searches and compilation are done."
        + (" The steady figures of this report already leave these steps out." if left else ""),
        snippet=SNIPPET,
        confidence="high" if startup.steps else "medium",
    )


RULE = Rule("ST001", "startup", "Start-up lies in the recorded window", find, __doc__ or "")
