"""Ranks wait for a late one.

What it does:
    Fires when communication holds a tenth of the steady step or more and most of the time in
    collectives is waiting for the rank that comes last, mostly the same one.

Why it costs:
    All other ranks stand still until the late one arrives.

Example:
    A collective takes 7 us on rank 0 and 11.3 ms on rank 1, which waits for rank 0.

What to try:
    Compare the late rank with another: more data, longer sequences, a slower loader, a hotter
    device, shared cores.

When this is wrong:
    When different ranks are late by turns: then the work is spread unevenly, and no rank is to
    blame.

References:
    https://pytorch.org/docs/stable/notes/ddp.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.1
"""As for exposed communication."""

LEAST_BLAME = 0.6
"""The rank named must have caused most of the waiting."""


def find(context: Context) -> Finding | None:
    """Rests on the collectives of all ranks, compared call by call."""
    share, waiting = context.share("communication"), context.waiting
    if waiting is None or share is None or share < LEAST_SHARE or not waiting.is_most:
        return None
    blamed = waiting.late_share >= LEAST_BLAME
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share * waiting.share),
        title=RULE.title,
        evidence=(
            *context.part_evidence("communication", "communication with nothing beside it"),
            Evidence(
                name="waiting, share of the time in matched collectives",
                value=waiting.share,
                unit="frac",
            ),
            Evidence(name="collectives matched over ranks", value=waiting.matched, unit="count"),
            Evidence(
                name="rank that comes last",
                value=waiting.late_rank if blamed else "by turns",
                unit="text",
            ),
            Evidence(
                name="share of the waiting that the last rank causes",
                value=waiting.late_share,
                unit="frac",
            ),
        ),
        action=f"Look at what rank {waiting.late_rank} does before its collectives: loader, uneven batches, a slower "
        "device or shared CPU cores."
        if blamed
        else "Spread the work more evenly: ranks come last by turns, as they do with inputs of uneven length.",
        confidence="high" if blamed else "medium",
        share_frac=share * waiting.share,
        rank=waiting.late_rank if blamed else None,
    )


RULE = Rule(
    "SG001",
    "straggler",
    "Ranks wait for a late one",
    find,
    __doc__ or "",
    gain=lambda context: context.gains.together,
)
