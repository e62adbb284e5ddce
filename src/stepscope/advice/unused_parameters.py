"""DistributedDataParallel looks for unused parameters in every step.

What it does:
    Fires when the search for unused parameters takes 1 % of the steady step or more.

Why it costs:
    With ``find_unused_parameters=True`` the whole graph is walked after each forward pass, before the backward
    pass may begin, and the ranks exchange what they found.

Example:
    A flag that stands in the script because an example had it; every parameter is used.

What to try:
    Leave it out. Where parameters are really unused, but always the same, ``static_graph=True`` looks once.

When this is wrong:
    When other parameters are unused in each step, as with layers that are dropped at random.

References:
    https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context

SEARCH = "search_unused_parameters"
"""Part of the range's name in PyTorch's reducer."""

LEAST_SHARE = 0.01
"""The search itself is the smaller part of what it costs."""

SNIPPET = """\
model = DistributedDataParallel(model)       # or static_graph=True"""


def find(context: Context) -> Finding | None:
    """Rests on the range that PyTorch records around the search."""
    rows = [row for row in context.results.operators if SEARCH in row.name]
    lengths = context.results.spread.durations_ns
    whole = int(lengths.sum())
    if not rows or not whole or not context.steady_count or not context.has_steps:
        return None
    spent, calls = sum(row.total_ns for row in rows), sum(row.count for row in rows)
    share = spent / whole
    if share < LEAST_SHARE:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            Evidence(
                name="search for unused parameters, share of the steps", value=share, unit="frac"
            ),
            Evidence(name="one search", value=ns_to_ms(spent / calls), unit="ms"),
            Evidence(name="searches in the file", value=calls, unit="count"),
        ),
        action="Leave find_unused_parameters out; where the same parameters are always unused, set static_graph=True.",
        snippet=SNIPPET,
        confidence="high",
        share_frac=share,
    )


RULE = Rule(
    "DP001",
    "host",
    "The search for unused parameters holds up every step",
    find,
    __doc__ or "",
)
