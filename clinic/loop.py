"""A training loop on a made GPU, in which everything that can go wrong is a number."""

from __future__ import annotations

import random
from dataclasses import dataclass

from stepscope.testing import A100, Setup, TraceBuilder

US, MS = 1_000, 1_000_000
MATMUL = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
PLAIN = "ampere_sgemm_128x64_tn"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)"
COMPUTE_STREAM, COPY_STREAM = 7, 21
NOISE = 0.04


@dataclass(frozen=True, kw_only=True)
class Loop:
    """One rank's loop; times in ns, each varied by a few per cent from call to call.

    Attributes:
        steps, layers, seed: How much of it there is; the seed of the variation.
        waits: Waiting for the loader, by turns from step to step.
        workers: Whether the loader has worker processes.
        copy, copy_bytes, pinned, copy_stream: The batch's way to the device.
        kernel, name: Length and name of the forward kernel of each layer; backward has two of them.
        casts, cast: Small kernels that go with each layer, and the length of each; 0 for a fiftieth of its kernel.
        operator, python: Host time of each operator, and of the Python between two of them.
        graph: Whether forward and backward are one captured graph.
        masks: Layers that need a size which only the device knows.
        items: Values read back behind each step; most loops read their loss.
        early_items: Values read back between forward and backward, and behind backward.
        synchronizes: Calls of ``torch.cuda.synchronize()`` in each step.
        prepare: Python of the program before the batch is copied.
        metrics: Python of the program behind the optimizer.
        optimizer: Kernels of the optimizer, and the length of each.
        mallocs: Calls of the driver's allocator, and the length of each.
        buckets: Collectives in each step, beside the backward pass but for the last.
        collective: Length of all of them together.
        micro, no_sync: Micro-batches of a step, each with forward and backward, and whether only the last is sent.
        late: Additional kernels' time before the collectives.
    """

    steps: int = 10
    layers: int = 12
    seed: int = 1
    waits: tuple[int, ...] = (100 * US,)
    workers: bool = True
    copy: int = 800 * US
    copy_bytes: int = 9_600_000
    pinned: bool = True
    copy_stream: int = COPY_STREAM
    kernel: int = 900 * US
    name: str = MATMUL
    casts: int = 0
    cast: int = 0
    operator: int = 40 * US
    python: int = 15 * US
    graph: bool = False
    masks: int = 0
    items: int = 1
    early_items: int = 0
    synchronizes: int = 0
    prepare: int = 0
    metrics: int = 0
    optimizer: tuple[int, int] = (4, 150 * US)
    mallocs: tuple[int, int] = (0, 0)
    buckets: int = 0
    collective: int = 0
    micro: int = 1
    no_sync: bool = True
    late: int = 0

    def build(self, rank: int | None = None, ranks: int = 1) -> Running:
        """Starts the loop; ``finish`` runs it to its end."""
        return Running(self, TraceBuilder(Setup(rank=rank, world_size=ranks, gpus=(A100,))))

    def traces(self, steps: int = 0) -> tuple[TraceBuilder, ...]:
        """The trace of a single rank, of another number of steps when one is given."""
        running = self.build(0, 2) if self.buckets else self.build()
        for number in range(steps or self.steps):
            running.step(number)
        running.trace.synchronize()
        return (running.trace,)


class Running:
    """A loop that runs step by step.

    Args:
        loop: What it does.
        trace: Where it is written.
    """

    def __init__(self, loop: Loop, trace: TraceBuilder) -> None:
        self.loop, self.trace = loop, trace
        self._device_end = 0
        self._random = random.Random(loop.seed)

    def step(self, number: int, until_ns: int = 0) -> int:
        """One step; its collectives last at least until a time. Returns the end of the last of them."""
        loop, trace = self.loop, self.trace
        with trace.step(number):
            trace.loader_wait(
                self._vary(loop.waits[number % len(loop.waits)]), workers=loop.workers
            )
            if loop.prepare:
                trace.pause(self._vary(loop.prepare))
            if loop.copy:
                self._copy()
            for _ in range(loop.synchronizes):
                trace.synchronize()
            self._allocate()
            if loop.graph:
                self._graph()
                end = self._collectives(loop.buckets, until_ns)
                if loop.buckets:
                    trace.wait_for_communication()
            else:
                for batch in range(1, loop.micro + 1):
                    is_last = batch == loop.micro
                    sends = is_last or not loop.no_sync
                    end = self._micro_batch(until_ns if is_last else 0, sends=sends)
            for _ in range(loop.early_items):
                trace.item()
            self._optimize()
            if loop.metrics:
                trace.pause(self._vary(loop.metrics))
            for _ in range(loop.items):
                trace.item()
        return end

    def _micro_batch(self, until_ns: int, *, sends: bool) -> int:
        """Forward and backward; returns the end of the last collective."""
        if self.loop.buckets:
            with self.trace.annotation("DistributedDataParallel.forward"):
                self._forward()
        else:
            self._forward()
        for _ in range(self.loop.early_items):
            self.trace.item()
        end = self._backward(until_ns, self.loop.buckets if sends else 0)
        if sends and self.loop.buckets:
            self.trace.wait_for_communication()
        return end

    def _vary(self, ns: float) -> int:
        return round(ns * self._random.uniform(1 - NOISE, 1 + NOISE))

    def _copy(self) -> None:
        loop = self.loop
        with self.trace.op("aten::to"), self.trace.op("aten::copy_"):
            self.trace.copy(
                "HtoD",
                loop.copy_bytes,
                self._vary(loop.copy),
                pinned=loop.pinned,
                stream=loop.copy_stream,
            )

    def _allocate(self) -> None:
        count, ns = self.loop.mallocs
        for _ in range(count):
            with self.trace.op("aten::empty"):
                # cudaFree waits for the device.
                waited = max(self._device_end - self.trace.now_ns, 0)
                self.trace.call("cudaFree", waited + self._vary(ns / 2))
                self.trace.call("cudaMalloc", self._vary(ns / 2))

    def _operator(self, name: str, kernel: str, ns: float) -> None:
        self.trace.pause(self._vary(self.loop.python))
        with self.trace.op(name, ns=self._vary(self.loop.operator)):
            self._device_end = self.trace.launch(kernel, self._vary(ns))

    def _forward(self) -> None:
        loop = self.loop
        for layer in range(loop.layers):
            for _ in range(loop.casts):
                self._operator("aten::_to_copy", ADD, loop.cast or 0.02 * loop.kernel)
            self._operator("aten::linear", loop.name, loop.kernel)
            if layer < loop.masks:
                with self.trace.op("aten::nonzero"):
                    self.trace.launch(ADD, 4 * US)
                    self.trace.copy("DtoH", 8, 2 * US, pinned=False)
        if loop.late:
            self._operator("aten::linear", loop.name, loop.late)

    def _backward(self, until_ns: int, buckets: int) -> int:
        loop, end = self.loop, 0
        each = max(loop.layers // max(buckets, 1), 1)
        sent = 0
        with self.trace.backward():
            for layer in range(loop.layers):
                name = "autograd::engine::evaluate_function: AddmmBackward0"
                self._operator(name, loop.name, loop.kernel)
                self._operator(name, loop.name, loop.kernel)
                if sent < buckets - 1 and buckets <= loop.layers and (layer + 1) % each == 0:
                    end = self._collectives(1, until_ns)
                    sent += 1
            return self._collectives(buckets - sent, until_ns) or end

    def _collectives(self, count: int, until_ns: int) -> int:
        loop, end = self.loop, 0
        for _ in range(count):
            ns = self._vary(loop.collective / loop.buckets)
            end = self.trace.collective(
                "allreduce", 25_000_000 // loop.buckets, ns, until_ns=until_ns
            )
        return end

    def _graph(self) -> None:
        loop = self.loop
        count = loop.layers * 3
        self.trace.replay_graph([(loop.name, self._vary(loop.kernel)) for _ in range(count)])

    def _optimize(self) -> None:
        count, ns = self.loop.optimizer
        with self.trace.optimizer("AdamW"):
            for _ in range(count):
                self._operator(
                    "aten::_foreach_addcdiv_" if count < 10 else "aten::addcdiv_", ADD, ns
                )


def in_step(loops: tuple[Loop, ...], steps: int = 0) -> tuple[TraceBuilder, ...]:
    """The traces of ranks that meet in the last collective of every step."""
    ranks = len(loops)
    running = [loop.build(rank, ranks) for rank, loop in enumerate(loops)]
    slowest = max(running, key=lambda one: one.loop.late)
    for number in range(steps or loops[0].steps):
        end = slowest.step(number)
        for one in running:
            if one is not slowest:
                one.step(number, until_ns=end)
    for one in running:
        one.trace.synchronize()
    return tuple(one.trace for one in running)
