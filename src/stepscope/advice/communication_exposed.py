"""Communication between ranks is not hidden behind compute.

What it does:
    Fires when communication runs with nothing else beside it for a tenth of the steady step or
    more.

Why it costs:
    The devices wait for messages that could travel while the backward pass goes on.

Example:
    One all-reduce of all gradients after the backward pass instead of buckets during it.

What to try:
    Buckets of another size, gradient accumulation without synchronisation, half-size gradients,
    prefetching under FSDP, a faster or better chosen network.

When this is wrong:
    A collective's time holds waiting for the slowest rank. From one rank the two cannot be told
    apart.

References:
    https://pytorch.org/docs/stable/notes/ddp.html,
    https://pytorch.org/docs/stable/ddp_comm_hooks.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_frac, format_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context
    from stepscope.job.waiting import Waiting

MOST_OF_ALL = 0.5
"""A call that holds at least this share of the time in collectives is told by itself."""

LEAST_SHARE = 0.1
"""Some exposed communication at the end of a step is unavoidable."""

SNIPPET = """\
model = DDP(model, bucket_cap_mb=50, gradient_as_bucket_view=True)
model.register_comm_hook(None, default_hooks.bf16_compress_hook)
with model.no_sync():      # all but the last micro-batch
    loss.backward()"""


def find(context: Context) -> Finding | None:
    """Rests on the part "communication" of the partition."""
    share = context.share("communication")
    if share is None or share < LEAST_SHARE or context.results.facts.gpu_recorded is False:
        return None
    facts, communication = context.results.facts, context.results.communication
    hidden = communication.hidden_ns / communication.total_ns if communication.total_ns else None
    longest = communication.collectives[0].name if communication.collectives else None
    waiting = context.waiting.share if context.waiting else None
    extra = (
        Evidence(
            name="communication hidden behind kernels, share of it in the file",
            value=hidden,
            unit="frac",
        ),
        Evidence(name="collective with most time", value=longest, unit="text"),
        Evidence(
            name="waiting for the last rank, share of time in collectives",
            value=waiting,
            unit="frac",
        ),
        *_longest(context.waiting),
        Evidence(name="ranks analysed", value=context.ranks, unit="count"),
        Evidence(name="ranks in the job", value=facts.world_size, unit="count"),
    )
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            *context.part_evidence("communication", "communication with nothing beside it"),
            *(one for one in extra if one.value is not None),
        ),
        action="Let communication overlap the backward pass and send less: bucket size, gradients in bfloat16, no "
        "synchronisation while gradients accumulate. "
        + _transfer_or_waiting(waiting)
        + _one_is_most(context.waiting),
        snippet=SNIPPET,
        confidence="high" if waiting is not None else "medium",
        share_frac=share,
    )


def _longest(waiting: Waiting | None) -> tuple[Evidence, ...]:
    one = waiting.longest if waiting else None
    if one is None:
        return ()
    return (
        Evidence(
            name=f"longest transfer, an {one.kind}"
            if one.kind[:1] in "ao"
            else f"longest transfer, a {one.kind}",
            value=one.transfer_ms,
            unit="ms",
        ),
        Evidence(name="waiting for the last rank in it", value=one.wait_ms, unit="ms"),
    )


def _one_is_most(waiting: Waiting | None) -> str:
    """Says so where one long call, on all ranks alike, is most of the communication."""
    one = waiting.longest if waiting else None
    if one is None or one.share < MOST_OF_ALL or one.wait_ms >= 0.5 * one.transfer_ms:
        return ""
    return (
        f" One {one.kind} transfers for {format_ms(one.transfer_ms)}, {format_frac(one.share)} of the time in "
        "collectives, on all ranks alike: look at its size and whether it is needed."
    )


def _transfer_or_waiting(waiting: float | None) -> str:
    if waiting is None:
        return (
            "Analyse all ranks together first: from these data, transfer and waiting for a late rank cannot be told "
            "apart."
        )
    if waiting < 0.5:
        return "Most of the time in collectives is transfer here."
    return "Most of the time in collectives is waiting for the rank that comes last: even out the ranks first."


RULE = Rule(
    "CM001",
    "communication",
    "Communication is not hidden behind compute",
    find,
    __doc__ or "",
    explained_by=("SG001", "CM002", "CM003"),
    gain=lambda context: context.gains.communication,
)
