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
    """Rests on the steps that the reader marked, and on loading calls where there are no steps."""
    spread, launches = context.results.spread, context.results.launches
    marked = int(spread.durations_ns[spread.is_startup].sum())
    loading = 0 if context.has_steps else launches.loading_ns
    share = max(marked, loading) / int(spread.durations_ns.sum())
    if share < LEAST_SHARE:
        return None
    none_left = spread.steady_mean_ns is None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity="high" if none_left or loading else "low",
        title=RULE.title,
        evidence=(
            Evidence(name="start-up, share of the recorded time", value=share, unit="frac"),
            Evidence(
                name="start-up in the window", value=ns_to_ms(max(marked, loading)), unit="ms"
            ),
            Evidence(name="start-up steps", value=int(spread.is_startup.sum()), unit="count"),
            Evidence(
                name="steady steps left",
                value=context.steady_count if context.has_steps else 0,
                unit="count",
            ),
        ),
        action="Let at least five steps pass before recording, so that contexts, kernels, algorithm searches and "
        "compilation are done."
        + (
            ""
            if none_left or loading
            else " The steady figures of this report already leave these steps out."
        ),
        snippet=SNIPPET,
        confidence="high" if marked else "medium",
    )


RULE = Rule("ST001", "startup", "Start-up lies in the recorded window", find, __doc__ or "")
