"""Make a trace with a known bottleneck, and let stepscope find it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import stepscope
from stepscope.testing import TraceBuilder


def make() -> TraceBuilder:
    """Four steps in which the device waits 30 ms for a batch and then works 12 ms."""
    trace = TraceBuilder()
    for number in range(4):
        with trace.step(number):
            trace.loader_wait(30_000_000)
            for _ in range(3):
                with trace.op("aten::linear"):
                    trace.launch("ampere_bf16_s16816gemm_bf16_128x128_tn", 4_000_000)
            trace.synchronize()
    return trace


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        path = make().write(Path(folder, "made.pt.trace.json.gz"))
        print(stepscope.analyze([path]).verdict.sentence)
