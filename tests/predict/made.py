"""Training runs made with the TraceBuilder, in which one thing can be chosen."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from stepscope.testing import TraceBuilder
from stepscope.trace import load

US, MS = 1_000, 1_000_000
MATMUL = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
PLAIN = "ampere_sgemm_128x64_tn"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)"


def read(builder):
    """The trace of a builder, written to a file and read back."""
    with tempfile.TemporaryDirectory() as folder:
        return load([str(builder.write(Path(folder) / "made.pt.trace.json"))])[0]


def held_up():
    """Steps in which something that no event tells of holds the stream up."""
    trace = TraceBuilder()
    for number in range(3):
        with trace.step(number):
            with trace.op("aten::linear"):
                trace.launch(MATMUL, 1 * MS)
            trace._free_ns[7] += 20 * MS
            with trace.op("aten::linear"):
                trace.launch(MATMUL, 1 * MS)
            trace.synchronize()
            trace.pause(1 * MS)
    return read(trace)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A made run of several steps: input, copy, forward, backward in its own thread, optimizer, read-back."""

    steps: int = 6
    wait: int = 100 * US
    workers: bool = True
    copy: int = 0
    pinned: bool = True
    copy_stream: int = 7
    kernel: int = 1 * MS
    kernels: int = 10
    name: str = MATMUL
    operator: int = 20 * US
    python: int = 0
    item: bool = False
    collective: int = 0
    joined: bool = True

    def build(self):
        trace = TraceBuilder()
        for number in range(self.steps):
            with trace.step(number):
                self._step(trace)
        return trace

    def read(self):
        return read(self.build())

    def _step(self, trace):
        if self.wait:
            trace.loader_wait(self.wait, workers=self.workers)
        if self.copy:
            with trace.op("aten::copy_"):
                trace.copy(
                    "HtoD", 8_000_000, self.copy, pinned=self.pinned, stream=self.copy_stream
                )
        for _ in range(self.kernels):
            trace.pause(self.python)
            with trace.op("aten::linear", ns=self.operator):
                trace.launch(self.name, self.kernel)
        with trace.backward():
            for _ in range(self.kernels):
                with trace.op("autograd::engine::evaluate_function: X", ns=self.operator):
                    trace.launch(self.name, self.kernel)
                    if self.collective:
                        trace.collective("allreduce", 1_000_000, self.collective)
        if self.collective and self.joined:
            trace.wait_for_communication()
        with trace.optimizer():
            trace.launch(ADD, self.kernel)
        if self.item:
            trace.item()
