"""The report on a run of which only step times are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepscope._version import __version__
from stepscope.job.light_judge import Judgement, judge
from stepscope.job.light_ranks import RankSteps, common_blocks, read_ranks, with_host
from stepscope.schema import light_sums
from stepscope.schema.job_report import StragglerRow
from stepscope.schema.light import ALL_PARTS, LightRow
from stepscope.schema.light_report import LightRank, LightReport, SlowStep
from stepscope.trace.ranks import absent
from stepscope.units import format_ms, ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MOST_SLOW = 5
"""So many of the slowest steps are told."""

US_PER_MS = 1000

STANDS_OUT = 0.5
"""A part explains a slow step when it holds at least this share of what the step took longer than the mean."""

DEAD_S = 5.0
"""A rank without an end whose last step ended so long before that of the others has died."""


def light_report(folder: Path) -> LightReport:
    """Read what the ranks wrote, and compare them.

    Raises:
        InputError: No rank left a whole step.
    """
    ranks = read_ranks(folder)
    world = max(one.world_size for one in ranks)
    made = Judgement()
    steps, waiting = 0, None
    if len(ranks) > 1:
        blocks = common_blocks(ranks)
        made = judge(ranks, blocks)
        steps = len(blocks) * blocks.width
        waits = blocks.parts_us[:, :, ALL_PARTS.index("sync")]
        waiting = float(waits.mean()) / US_PER_MS if waits.any() else None
    return LightReport(
        stepscope_version=__version__,
        path=str(folder),
        world_size=max(world, len(ranks)),
        ranks=tuple(_rank(one) for one in ranks),
        slowest=_slowest(ranks),
        compared_steps=steps,
        waiting_ms=waiting,
        straggler=_straggler(ranks, made, steps),
        cause=made.cause,
        excess_ms={part: us / US_PER_MS for part, us in made.excess_us},
        notices=tuple(_notices(ranks, world)),
        cannot_tell=made.cannot_tell,
    )


def _rank(one: RankSteps) -> LightRank:
    rows = one.steady
    parts = [us / US_PER_MS for us in light_sums.mean_parts_us(rows)]
    return LightRank(
        rank=one.rank,
        host=one.host,
        device=one.device,
        steps=light_sums.steps_in(one.rows),
        last_step=one.last_step,
        ended=one.ended,
        seconds=light_sums.seconds(one.rows),
        mean_ms=light_sums.mean_us(rows) / US_PER_MS,
        median_ms=light_sums.median_us(rows) / US_PER_MS,
        parts_ms=dict(zip(ALL_PARTS, parts, strict=True)),
        trend_frac=light_sums.trend_frac(rows),
    )


def _slowest(ranks: Sequence[RankSteps]) -> tuple[SlowStep, ...]:
    """The slowest steady steps, each step once, on the rank that was longest in it without waiting for others."""
    worst: dict[int, tuple[RankSteps, LightRow]] = {}
    for one in ranks:
        for row in one.steady:
            known = worst.get(row.worst)
            if known is None or _own_us(row) > _own_us(known[1]):
                worst[row.worst] = (one, row)
    longest = sorted(worst.values(), key=lambda pair: -pair[1].worst_us)[:MOST_SLOW]
    return tuple(_slow(one, row) for one, row in longest)


def _own_us(row: LightRow) -> int:
    return row.worst_us - row.worst_parts_us[ALL_PARTS.index("sync")]


def _slow(one: RankSteps, row: LightRow) -> SlowStep:
    rows = one.steady
    own = with_host(row.worst_us, row.worst_parts_us)
    longer = own - np.array(light_sums.mean_parts_us(rows))
    part = int(longer.argmax())
    stands_out = longer[part] >= STANDS_OUT * max(row.worst_us - light_sums.mean_us(rows), 1)
    return SlowStep(
        rank=one.rank,
        number=row.worst,
        ms=row.worst_us / US_PER_MS,
        part=ALL_PARTS[part] if stands_out else None,
        part_ms=float(own[part]) / US_PER_MS if stands_out else None,
    )


def _straggler(ranks: Sequence[RankSteps], made: Judgement, steps: int) -> StragglerRow | None:
    late = made.late
    if late is None:
        return None
    one = ranks[late.place]
    return StragglerRow(
        rank=one.rank,
        is_named=late.is_named,
        host=one.host,
        device=one.device,
        node=late.node,
        share=late.share,
        times=late.times,
        steps=late.steps,
        all_steps=late.all_steps,
        pattern=late.pattern,
        loss_ms=ns_to_ms(late.loss_ns) / max(steps, 1),
        loss_frac=made.loss_frac,
        cause=late.cause,
        comparison="",
    )


def _notices(ranks: Sequence[RankSteps], world: int) -> list[str]:
    """Ranks that are missing, and ranks that died before the others."""
    said = []
    there = {one.rank for one in ranks}
    missing, first = absent(world, there)
    if missing:
        named = ", ".join(map(str, first)) + (" and more" if missing > len(first) else "")
        said.append(f"{missing} of {world} ranks left no steps: {named}.")
    dead = [one for one in ranks if not one.ended]
    if dead and len(dead) == len(ranks):
        said.append("No rank came to its end: the job was killed, or it is still running.")
    latest = max(_end_s(one) for one in ranks)
    for one in dead:
        behind = latest - _end_s(one)
        if len(dead) < len(ranks) or behind > DEAD_S:
            before = (
                f", {format_ms(behind * 1e3)} before the last step of all" if behind > 0 else ""
            )
            said.append(
                f"Rank {one.rank} on {one.host} ended without a word after step {one.last_step}{before}."
            )
    return said


def _end_s(one: RankSteps) -> float:
    last = one.rows[-1]
    return one.zero_ns / 1e9 + last.at_ms / 1e3 + last.total_us / 1e6
