"""All analyses of one rank together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.analysis import (
    allocator,
    collectives,
    communication,
    copies,
    facts,
    gpu,
    kernels,
    launches,
    loader,
    memory,
    operators,
    overview,
    partition,
    spread,
    startup,
    sync,
    timeline,
)

if TYPE_CHECKING:
    from stepscope.schema.report import Timeline
    from stepscope.trace.model import Trace


class Results(Struct, frozen=True, eq=False, kw_only=True):
    """One field for each analysis; see the class in its module."""

    facts: facts.Facts
    spread: spread.Spread
    startup: startup.Startup
    partition: partition.Partition
    overview: overview.Overview
    gpu: gpu.Gpu
    loader: loader.Loader
    kernels: tuple[kernels.Kernel, ...]
    operators: tuple[operators.Operator, ...]
    copies: tuple[copies.Copies, ...]
    sync: sync.Sync
    launches: launches.Launches
    communication: communication.Communication
    collectives: collectives.Collectives
    allocator: allocator.Allocator
    memory: tuple[memory.Memory, ...]
    timeline: Timeline | None


def run_all(trace: Trace) -> Results:
    """Runs every analysis on one rank."""
    return Results(
        facts=facts.run(trace),
        spread=spread.run(trace),
        startup=startup.run(trace),
        partition=partition.run(trace),
        overview=overview.run(trace),
        gpu=gpu.run(trace),
        loader=loader.run(trace),
        kernels=kernels.run(trace),
        operators=operators.run(trace),
        copies=copies.run(trace),
        sync=sync.run(trace),
        launches=launches.run(trace),
        communication=communication.run(trace),
        collectives=collectives.run(trace),
        allocator=allocator.run(trace),
        memory=memory.run(trace),
        timeline=timeline.run(trace),
    )
