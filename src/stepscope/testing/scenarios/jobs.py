"""Jobs of several ranks."""

from __future__ import annotations

from contextlib import ExitStack

from stepscope.testing.builder import TraceBuilder
from stepscope.testing.host import Setup
from stepscope.testing.models import A100
from stepscope.testing.scenarios.base import MATMUL, MS, STEPS, US, Scenario

GRADIENTS = 25_000_000
JOIN_NS = 100 * US
"""From the end of the last rank's backward pass until all ranks have joined."""


def _job(extra_ms: tuple[int, ...], transfer_ms: int) -> tuple[TraceBuilder, ...]:
    """A data-parallel job: each rank computes 40 ms and its extra time, then all reduce gradients."""
    world = len(extra_ms)
    ranks = tuple(
        TraceBuilder(
            Setup(rank=rank, world_size=world, gpus=(A100,) * world, device=rank, pid=4000 + rank)
        )
        for rank in range(world)
    )
    for number in range(STEPS):
        with ExitStack() as steps:
            ends = []
            for trace, extra in zip(ranks, extra_ms, strict=True):
                steps.enter_context(trace.step(number))
                ends.append(_compute(trace, extra))
            for trace in ranks:
                _reduce(trace, transfer_ms, max(ends))
    return ranks


def _compute(trace: TraceBuilder, extra_ms: int) -> int:
    """Forward and backward; when the device is done with them."""
    trace.loader_wait(100 * US)
    with trace.annotation("DistributedDataParallel.forward"), trace.op("aten::linear"):
        trace.launch(MATMUL, 20 * MS)
    with trace.backward(), trace.op("autograd::engine::evaluate_function: AddmmBackward0"):
        return trace.launch(MATMUL, (20 + extra_ms) * MS)


def _reduce(trace: TraceBuilder, transfer_ms: int, last_ns: int) -> None:
    """All-reduce, which ends on every rank once the last has joined and the data has moved."""
    end = last_ns + JOIN_NS + transfer_ms * MS
    with trace.backward():
        trace.collective("allreduce", GRADIENTS, transfer_ms * MS, until_ns=end)
    trace.wait_for_communication()
    with trace.optimizer():
        trace.launch(MATMUL, 1 * MS)
    trace.item()


def _overlapped() -> tuple[TraceBuilder, ...]:
    """Two ranks whose reductions run beside the backward pass."""
    ranks = tuple(
        TraceBuilder(Setup(rank=rank, world_size=2, gpus=(A100,) * 2, device=rank, pid=4000 + rank))
        for rank in range(2)
    )
    for number in range(STEPS):
        for trace in ranks:
            with trace.step(number):
                trace.loader_wait(100 * US)
                with trace.op("aten::linear"):
                    trace.launch(MATMUL, 20 * MS)
                with trace.backward():
                    for _ in range(4):
                        with trace.op("autograd::engine::evaluate_function: AddmmBackward0"):
                            trace.launch(MATMUL, 10 * MS)
                        trace.collective("allreduce", GRADIENTS // 4, 6 * MS)
                with trace.optimizer():
                    trace.launch(MATMUL, 8 * MS)
                trace.item()
    return ranks


def _exposed() -> tuple[TraceBuilder, ...]:
    return _job(extra_ms=(0, 0), transfer_ms=30)


def _straggler() -> tuple[TraceBuilder, ...]:
    return _job(extra_ms=(0, 40, 0), transfer_ms=3)


JOBS = (
    Scenario(
        "communication-exposed",
        "communication",
        "Nothing computes for the 30 ms of an all-reduce.",
        _exposed,
    ),
    Scenario(
        "communication-overlapped",
        "healthy",
        "All-reduces run beside the backward pass.",
        _overlapped,
    ),
    Scenario("straggler", "straggler", "Two ranks wait 40 ms a step for rank 1.", _straggler),
)
