"""Bubbles of pipeline parallelism: how long each stage waits for its neighbours.

A stage that has no micro-batch to work on stands in a send or a receive until its neighbour comes. Its *bubble*
is the time of these calls in which nothing else runs on its device, less what the message itself takes,
which is the shortest call with a message of its size. With p equal stages and m micro-batches at least
(p - 1) / (m + p - 1) of a step is bubble (Y. Huang et al., GPipe, 2019, section 2.3,
https://arxiv.org/abs/1811.06965; D. Narayanan et al., 2021, section 2.2, https://arxiv.org/abs/2104.04473, who
divide by the work alone: (p - 1) / m). What a stage waits at the end of a step in a collective of all ranks
is no send or receive, and is told as waiting there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.job.overlap import steady_calls
from stepscope.schema.job_report import PipelineReport, StageRow
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.job.grouping import AllCalls

KIND = "send/recv"


def pipeline(
    everything: AllCalls, numbers: Sequence[int], steps: tuple[int, ...], steady_ns: Sequence[int]
) -> PipelineReport | None:
    """Bubbles by stage; ``None`` where nobody sends to a neighbour.

    Ranks that are connected by sends and receives form a pipeline; a rank's stage is its place in the
    order of their numbers.

    Args:
        everything: Collectives of all ranks.
        numbers: The ranks' numbers by position.
        steps: Numbers of the steady steps; empty for all calls that are not start-up.
        steady_ns: Length of each rank's steady steps (windows) together.
    """
    calls = steady_calls(everything.calls, steps).filter(pl.col("kind") == KIND)
    if not len(calls):
        return None
    message = pl.col("ns").min().over("bytes")
    bubbles = calls.group_by("place").agg((pl.col("exposed_ns") - message).clip(0).sum())
    held = dict(bubbles.iter_rows())
    stages: dict[int, list[int]] = {}
    for chain in _chains(calls, numbers):
        for stage, place in enumerate(chain):
            stages.setdefault(stage, []).append(place)
    per = max(len(steps), 1)
    shares = {
        place: min(held[place] / steady_ns[place], 1.0) if steady_ns[place] else 0.0
        for place in held
    }
    return PipelineReport(
        share=float(np.mean(list(shares.values()))),
        stages=tuple(
            StageRow(
                stage=stage,
                ranks=tuple(sorted(numbers[place] for place in places)),
                bubble_ms=ns_to_ms(float(np.mean([held[place] for place in places])) / per),
                share=float(np.mean([shares[place] for place in places])),
            )
            for stage, places in sorted(stages.items())
        ),
    )


def _chains(calls: pl.DataFrame, numbers: Sequence[int]) -> list[list[int]]:
    """Positions of ranks that are connected by groups with such calls, each chain in order of rank."""
    chain = {place: place for place in calls["place"].unique().to_list()}

    def root(place: int) -> int:
        while chain[place] != place:
            place = chain[place]
        return place

    for places in calls.group_by("group_id").agg(pl.col("place").unique())["place"].to_list():
        for place in places[1:]:
            chain[root(place)] = root(places[0])
    found: dict[int, list[int]] = {}
    for place in sorted(chain, key=lambda place: numbers[place]):
        found.setdefault(root(place), []).append(place)
    return list(found.values())
