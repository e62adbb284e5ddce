"""Ranks wait for a late one.

What it does:
    Fires when communication holds a tenth of the steady step or more and most of the time in
    collectives is waiting for the rank that comes last; or when the job loses a twentieth of its
    steps by one rank. It names the rank, what it does longer than the others before it comes, and
    how often, when the same rank is to blame for most of the waiting in many steps.

Why it costs:
    All other ranks stand still until the late one arrives.

Example:
    A collective takes 7 us on rank 0 and 11.3 ms on rank 1, which waits for rank 0.

What to try:
    Look at what the late rank does longer than the others: its loader, uneven batches, work of one
    rank only (logging, checkpoints), a hotter device, shared cores.

When this is wrong:
    When different ranks are late by turns: then the work is spread unevenly, and no rank is to
    blame. Clocks of hosts are aligned by the ends of collectives; lateness below the uncertainty
    that the report states is not told from noise.

References:
    https://pytorch.org/docs/stable/notes/ddp.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding, Gain

if TYPE_CHECKING:
    from stepscope.advice.base import Context
    from stepscope.job.waiting import Waiting
    from stepscope.schema.report import Confidence

LEAST_SHARE = 0.1
"""As for exposed communication."""

LEAST_LOSS = 0.05
"""A rank by which the job loses less is not worth a search, unless waiting is most of the communication."""

LEAST_BLAME = 0.55
"""The rank named must have caused at least so much of the waiting; of few ranks more, see ``job.straggler``."""

MOSTLY_FIRST = 0.5
"""Lateness of which first calls are more than this share may be start-up and nothing else."""

CAUSES = {
    "input": "waits for its data",
    "compute": "computes on the device",
    "forward": "works in the forward pass",
    "backward": "works in the backward pass",
    "optimizer": "works in the optimizer",
    "host": "keeps its device idle with Python and launches",
    "other": "works in Python outside PyTorch's operators",
    "sync": "waits for its device in blocking calls",
    "copy": "copies",
    "allocator": "allocates memory",
    "communication": "communicates in another group",
    "other_rank": "waits for other ranks in another group",
}
"""Part of a step to what a rank does in it."""

CURES = {
    "input": "its loader, its share of the data (longer samples, a slower disk) and the cores that its workers get",
    "compute": "uneven batches, and its device's clocks, temperature and neighbours",
    "forward": "uneven batches, work that only this rank does, and the cores that it gets",
    "backward": "hooks and work that only this rank does in the backward pass, and the cores that it gets",
    "optimizer": "uneven shards of the optimizer's state",
    "host": "what only this rank does in Python (logging, checkpoints, metrics), and the cores that it gets",
    "other": "what only this rank does in Python (logging, checkpoints, metrics), and the cores that it gets",
    "sync": "blocking calls that only this rank makes (printing a loss, reading a metric)",
    "copy": "copies that only this rank makes, and its place in the machine",
    "allocator": "memory that only this rank allocates anew",
}

PATTERNS = {
    "constant": "in nearly every step",
    "drifting": "more and more, or less and less, as steps go by",
    "irregular": "in some steps and not in others",
    "once": "in one step",
}


def find(context: Context) -> Finding | None:
    """Rests on the collectives of all ranks, compared call by call."""
    share, waiting = context.share("communication"), context.waiting
    if waiting is None or share is None or not _is_worth_it(share, waiting):
        return None
    blamed = waiting.is_named and waiting.late_share >= LEAST_BLAME
    lost = max(share * waiting.share, waiting.loss_frac if blamed else 0.0)
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(lost),
        title=RULE.title,
        evidence=(
            *context.part_evidence("communication", "communication with nothing beside it"),
            *_evidence(context, waiting, blamed=blamed),
        ),
        action=_action(waiting)
        if blamed
        else "Spread the work more evenly: ranks come last by turns, as they do with inputs of uneven length.",
        confidence=_confidence(waiting, blamed=blamed),
        share_frac=lost,
        rank=waiting.late_rank if blamed else None,
    )


def _is_worth_it(share: float, waiting: Waiting) -> bool:
    if share >= LEAST_SHARE and waiting.is_most:
        return True
    return waiting.is_named and waiting.loss_frac >= LEAST_LOSS


def _evidence(context: Context, waiting: Waiting, *, blamed: bool) -> list[Evidence]:
    late = waiting.late_rank if waiting.node is None else f"those of {waiting.node}"
    found = [
        Evidence(
            name="waiting, share of the time in matched collectives",
            value=waiting.share,
            unit="frac",
        ),
        Evidence(name="collectives matched over ranks", value=waiting.matched, unit="count"),
        Evidence(name="rank that comes last", value=late if blamed else "by turns", unit="text"),
        Evidence(
            name="share of the waiting that the last rank causes",
            value=waiting.late_share,
            unit="frac",
        ),
    ]
    if blamed and waiting.loss_ms:
        name = f"lost by its coming late, {context.each}"
        found.append(Evidence(name=name, value=waiting.loss_ms, unit="ms"))
    if blamed and waiting.all_steps:
        name = f"steps of {waiting.all_steps} in which it is late"
        found.append(Evidence(name=name, value=waiting.late_steps, unit="count"))
    if blamed:
        found += [
            Evidence(
                name=f"what it does longer than the others: {CAUSES[part]}, {context.each}",
                value=ms,
                unit="ms",
            )
            for part, ms in waiting.before[:2]
            if part in CAUSES and ms >= 0.1 * waiting.loss_ms
        ]
    if blamed and waiting.first_ms:
        name = "of its lateness, first calls that a steady step does not make"
        found.append(Evidence(name=name, value=waiting.first_ms, unit="ms"))
    if waiting.uncertainty_ms is not None:
        name = "uncertainty of the clocks after alignment"
        found.append(Evidence(name=name, value=waiting.uncertainty_ms, unit="ms"))
    return found


def _confidence(waiting: Waiting, *, blamed: bool) -> Confidence:
    """Lateness that is start-up may not be there in the steady state."""
    if blamed and waiting.first_ms > MOSTLY_FIRST * waiting.loss_ms * max(waiting.all_steps, 1):
        return "low"
    return "high" if blamed and waiting.cause is not None else "medium"


def _action(waiting: Waiting) -> str:
    who = f"rank {waiting.late_rank}" if waiting.node is None else f"the ranks of {waiting.node}"
    cause = waiting.cause
    if cause is None:
        text = (
            f"Look at what {who} does before its collectives: loader, uneven batches, a slower device or shared CPU "
            "cores. The traces do not tell which of them it is."
        )
    else:
        text = (
            f"Before its collectives, {who} {CAUSES.get(cause, 'works')} longer than the others do"
        )
        text += f" ({PATTERNS[waiting.pattern]})." if waiting.pattern in PATTERNS else "."
        if cause in CURES:
            text += f" Look at {CURES[cause]}."
    if waiting.node is not None:
        text += " Its ranks are late together, so look at the machine first."
    if waiting.first_ms:
        text += " Much of this is first-call work: record later steps, and see whether it is still late."
    return f"{text} {waiting.comparison}".rstrip()


def _gain(context: Context) -> Gain | None:
    """By replay where it was made; else at most what the rank comes later than the next one."""
    waiting = context.waiting
    if context.gains.together is not None or waiting is None or not waiting.is_named:
        return context.gains.together
    step_ms = context.ms_each(context.steady_ns)
    if not step_ms or not 0 < waiting.loss_ms < step_ms:
        return None
    return Gain(
        low=1.0,
        high=step_ms / (step_ms - waiting.loss_ms),
        unit="ratio",
        step_ms_low=step_ms - waiting.loss_ms,
        step_ms_high=step_ms,
        basis="bound",
    )


RULE = Rule(
    "SG001",
    "straggler",
    "Ranks wait for a late one",
    find,
    __doc__ or "",
    gain=_gain,
)
