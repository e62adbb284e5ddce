"""What all scenarios share: the form of one, units, kernel names, and a step's usual work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.testing.builder import TraceBuilder

US = 1_000
MS = 1_000_000
STEPS = 6
MATMUL = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
SMALL = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)"
BATCH_BYTES = 19_267_584


@dataclass(frozen=True, slots=True)
class Scenario:
    """A made run with a known cause.

    Attributes:
        name: As ``scenarios.get`` takes it.
        regime: The regime that a careful reader names; ``None`` where several readings are fair.
        doc: What is wrong in it, as one sentence.
        build: Makes its ranks anew, in order.
    """

    name: str
    regime: str | None
    doc: str
    build: Callable[[], tuple[TraceBuilder, ...]]


def train_once(trace: TraceBuilder, kernel_ns: int, count: int = 10) -> None:
    """A step's device work: ``count`` kernels forward, as many backward, then the optimizer."""
    for _ in range(count):
        with trace.op("aten::linear"):
            trace.launch(MATMUL, kernel_ns)
    with trace.backward():
        for _ in range(count):
            with trace.op("autograd::engine::evaluate_function: AddmmBackward0"):
                trace.launch(MATMUL, kernel_ns)
    with trace.optimizer():
        trace.launch(MATMUL, kernel_ns)
