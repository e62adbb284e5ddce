"""What it gains when making batches waits less for storage, as on a faster file system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from stepscope.predict.graph import INPUT
from stepscope.predict.pipeline import Pipeline
from stepscope.predict.whatif import Outcome, outcome

if TYPE_CHECKING:
    from stepscope.predict.replay import Replay
    from stepscope.predict.source import Source


def with_less_waiting(base: Replay, source: Source, ratios: tuple[float, float]) -> list[Outcome]:
    """The step when waiting for storage takes these shares of its time, at best and at worst.

    Only the time in which making a batch waited, and computed nothing, gets shorter: what came from memory
    during the run was not waited for and gains nothing. Empty where that time is not known.
    """
    if source.cpu_frac is None:
        return []
    graph, found = base.graph, []
    before = Pipeline(base, source).modelled(source.workers) if source.workers else None
    now = outcome(base, graph)
    for ratio in ratios:
        left = source.cpu_frac + (1 - source.cpu_frac) * ratio
        if before is None:
            gaps = graph.gaps.copy()
            gaps[:, INPUT] = np.rint(gaps[:, INPUT] * left).astype(np.int64)
            found.append(outcome(base, replace(graph, gaps=gaps)))
            continue
        shorter = replace(
            source,
            work_ns=tuple(max(round(ns * left), 1) for ns in source.work_ns),
            cpu_frac=min(1.0, source.cpu_frac / max(left, 1e-9)),
        )
        after = Pipeline(base, shorter).modelled(source.workers)
        share = min(1.0, after.middle_ns / max(before.middle_ns, 1.0))
        found.append(Outcome(now.step_ns * share, now.spread_frac))
    return found
