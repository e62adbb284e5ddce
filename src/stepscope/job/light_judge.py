"""Who is late in a run of which only step times are known, and by what.

In data-parallel training all ranks have steps of the same length, because they meet in every one. What tells
them apart is how a step divides into the rank's own time and waiting in collectives: the rank that waits least is
the one that the others wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from stepscope.job.blame import Blame
from stepscope.job.straggler import Straggler, judged
from stepscope.schema.light import ALL_PARTS
from stepscope.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.job.light_ranks import Blocks, RankSteps
    from stepscope.trace.intervals import Floats, Ints

ALIKE = 0.02
"""Ranks that meet in every step have mean steps that differ by less than this share."""

AT_THE_ENDS = 2.0
"""Beside that, they may begin and end the common steps so many steps apart."""

LEAST_LATE = 0.02
"""A rank that comes later than the first by less than this share of a step is not late."""

LEAST_LOSS = 0.05
"""Nobody is named for what costs the job less than this share of its steps."""

CHANCE = 0.001
"""Steps that follow each other share their disturbances, so that chance has to be less likely than in traces."""

LEAST_BLOCKS = 12
"""With fewer blocks (steps, in a short run) nobody is named."""

USUAL, MOST_OF_USUAL = 0.75, 5.0
"""No block counts for more than so many times the waiting that this share of the blocks stays below."""

QUARTERS, LEAST_QUARTERS = 4, 3
"""A rank is named when it causes most of the waiting in at least so many quarters of the run, or in its last half."""

LEAST_OF_MEAN = 0.25
"""What it causes in a quarter counts from this share of its mean quarter on."""

OWN = tuple(part for part in ALL_PARTS if part != "sync")

CAUSES = {
    "input": "input",
    "forward": "compute",
    "backward": "compute",
    "optimizer": "compute",
    "apart": "evaluation or checkpoint",
    "host": "host",
}
"""What a part stands for."""

NO_WAITING = (
    "No waiting in collectives was seen (the ranks do not meet, or in a way that is not heard), so that nobody can be "
    "called late."
)
UNLIKE = "The ranks' steps differ in length, so they do not meet in every step, and nobody is waited for all the time."
ACCELERATOR = (
    "Steps run on an accelerator, where the host's clock does not tell computing from waiting for other ranks: only a "
    "rank that waits for its data, or evaluates or saves alone, can be named. For all else, record a trace: stepscope "
    "profile."
)


class Judgement(Struct, frozen=True):
    """What comparing the ranks gave.

    Attributes:
        late: The rank that the others wait for most; ``None`` where nobody is late.
        cause: See ``LightReport``.
        excess_us: What it does longer than the median of the others, a step, by part.
        loss_frac: Share of the steps that the job loses by it.
        cannot_tell: What the data do not carry, in sentences.
    """

    late: Straggler | None = None
    cause: str | None = None
    excess_us: tuple[tuple[str, float], ...] = ()
    loss_frac: float = 0.0
    cannot_tell: tuple[str, ...] = ()


def judge(ranks: Sequence[RankSteps], blocks: Blocks) -> Judgement:
    """Compare the ranks, at least two.

    Args:
        ranks: The ranks.
        blocks: Their common steps.
    """
    if len(blocks) < LEAST_BLOCKS:
        few = len(blocks) * blocks.width
        return Judgement(
            cannot_tell=(f"The ranks have {few} steady steps in common, too few to call one late.",)
        )
    on_host = all(one.device in ("cpu", None) for one in ranks)
    if not on_host:
        return _by_input(ranks, blocks)
    waits = blocks.parts_us[:, :, ALL_PARTS.index("sync")]
    if not waits.any():
        return Judgement(cannot_tell=(NO_WAITING,))
    sums = blocks.total_us.sum(axis=1)
    apart = float(np.ptp(sums)) - AT_THE_ENDS * float(blocks.total_us.mean())
    if apart > ALIKE * float(sums.mean()):
        return Judgement(cannot_tell=(UNLIKE,))
    return _judged(ranks, blocks, blocks.total_us - waits, OWN)


def _by_input(ranks: Sequence[RankSteps], blocks: Blocks) -> Judgement:
    """On an accelerator the host runs ahead: only what it does alone is its own for sure."""
    parts = ("input", "apart")
    own = sum(blocks.parts_us[:, :, ALL_PARTS.index(part)] for part in parts)
    made = _judged(ranks, blocks, np.asarray(own), parts)
    return replace(made, cannot_tell=(ACCELERATOR,))


def _judged(
    ranks: Sequence[RankSteps], blocks: Blocks, own: Floats, parts: tuple[str, ...]
) -> Judgement:
    """Lateness by each rank's own time, shape ``(ranks, blocks)``."""
    found = _blame(blocks, own, parts)
    hosts = [one.host for one in ranks]
    late = judged(_tamed(found), hosts, blocks.first.tolist(), None, lambda _: False, CHANCE)
    if late is None:
        return Judgement()
    length = float(blocks.total_us.mean(axis=0).sum()) * blocks.width * NS_PER_US
    at_fault = np.array([host == late.node for host in hosts])
    at_fault[late.place] = True
    lost = found.late_ns if late.node is not None else found.loss_ns
    loss_ns = int(lost[at_fault[found.culprit]].sum())
    loss = min(loss_ns / length, 1.0) if length else 0.0
    named = late.is_named and loss >= LEAST_LOSS and _lasts(found, blocks, late)
    late = replace(
        late,
        is_named=named,
        loss_ns=loss_ns,
        steps=late.steps * blocks.width,
        all_steps=late.all_steps * blocks.width,
    )
    if not named:
        return Judgement(late=late, loss_frac=loss)
    steps = max(late.all_steps, 1)
    excess = tuple((part, ns / NS_PER_US / steps) for part, ns in late.excess_ns)
    return Judgement(
        late=late,
        cause=CAUSES[late.cause] if late.cause else None,
        excess_us=excess,
        loss_frac=loss,
    )


def _blame(blocks: Blocks, own: Floats, parts: tuple[str, ...]) -> Blame:
    """One late arrival for each block in which a rank's own time stands out."""
    last = own.argmax(axis=0)
    order = np.sort(own, axis=0)
    spread = order[-1] - order[0]
    is_late = spread >= LEAST_LATE * blocks.total_us.mean(axis=0)
    columns = [ALL_PARTS.index(part) for part in parts]
    count = int(is_late.sum())
    excess = np.zeros((count, len(parts)), dtype=np.int64)
    others_middle = np.zeros(count)
    for row, block in enumerate(np.flatnonzero(is_late).tolist()):
        others = np.arange(len(own)) != last[block]
        did = blocks.parts_us[:, block][:, columns]
        longer = did[last[block]] - np.median(did[others], axis=0)
        excess[row] = longer * blocks.width * NS_PER_US
        others_middle[row] = np.median(own[others, block])
    scale = blocks.width * NS_PER_US

    def whole(us: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return (us * scale).astype(np.int64)

    top = order[-1][is_late]
    return Blame(
        culprit=last[is_late],
        last=last[is_late],
        wait_ns=whole((top - own[:, is_late]).sum(axis=0)),
        loss_ns=whole(top - order[-2][is_late]),
        late_ns=whole(top - others_middle),
        step=blocks.first[is_late],
        excess_ns=excess,
        parts=parts,
        spread_ns=whole(spread[is_late]),
        kind=("step",) * count,
        group_id=np.zeros(count, dtype=np.int64),
        size=np.full(count, len(own), dtype=np.int64),
    )


def _tamed(found: Blame) -> Blame:
    """The same with the longest lateness cut: one very long step must not make all others look slight."""
    if not len(found.wait_ns):
        return found
    most = MOST_OF_USUAL * float(np.quantile(found.wait_ns, USUAL))
    factor = np.minimum(most / np.maximum(found.wait_ns, 1), 1.0)

    def cut(ns: Ints) -> Ints:
        made: Ints = (ns * factor).astype(np.int64)
        return made

    return replace(
        found,
        wait_ns=cut(found.wait_ns),
        loss_ns=cut(found.loss_ns),
        late_ns=cut(found.late_ns),
        excess_ns=(found.excess_ns * factor[:, None]).astype(np.int64),
    )


def _lasts(found: Blame, blocks: Blocks, late: Straggler) -> bool:
    """Whether the rank causes most of the waiting throughout, more and more, or from some step on.

    A neighbour on the machine slows one rank in many steps that follow each other, which is no property of the
    rank.
    """
    if late.pattern == "drifting" or late.node is not None:
        return True
    place = np.searchsorted(blocks.first, found.step)
    quarter = np.minimum(place * QUARTERS // max(len(blocks), 1), QUARTERS - 1)
    caused = np.bincount(quarter, found.wait_ns * (found.culprit == late.place), QUARTERS)
    waited = np.bincount(quarter, found.wait_ns, QUARTERS)
    holds = (caused > waited / 2) & (caused >= LEAST_OF_MEAN * caused.mean())
    return int(holds.sum()) >= LEAST_QUARTERS or bool(holds[QUARTERS // 2 :].all())
