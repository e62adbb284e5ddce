"""Runs of one process on one device, each with one thing that takes the time."""

from __future__ import annotations

from stepscope.testing.builder import TraceBuilder
from stepscope.testing.scenarios.base import (
    BATCH_BYTES,
    MATMUL,
    MS,
    SMALL,
    STEPS,
    US,
    Scenario,
    train_once,
)


def _healthy() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(100 * US)
            trace.copy("HtoD", BATCH_BYTES, 800 * US, stream=21)
            train_once(trace, 4 * MS)
            trace.item()
    return (trace,)


def _input_bound() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(60 * MS)
            trace.copy("HtoD", BATCH_BYTES, 800 * US)
            train_once(trace, 1 * MS)
            trace.item()
    return (trace,)


def _launch_bound() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(100 * US)
            for _ in range(300):
                with trace.op("aten::add", ns=12 * US):
                    trace.launch(SMALL, 3 * US)
    return (trace,)


def _sync_each_operator() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(100 * US)
            for _ in range(20):
                with trace.op("aten::linear"):
                    trace.launch(MATMUL, 1 * MS)
                trace.item()
                trace.pause(800 * US)
    return (trace,)


def _pageable_copies() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(100 * US)
            with trace.op("aten::to"), trace.op("aten::_to_copy"), trace.op("aten::copy_"):
                trace.copy("HtoD", 120_000_000, 40 * MS, pinned=False)
            train_once(trace, 2 * MS)
            trace.item()
    return (trace,)


def _no_tensor_cores() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(100 * US)
            for _ in range(10):
                with trace.op("aten::mm"):
                    trace.launch("ampere_sgemm_128x64_tn", 8 * MS)
            trace.item()
    return (trace,)


def _allocator() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(100 * US)
            for _ in range(8):
                with trace.op("aten::empty"):
                    trace.synchronize()
                    trace.call("cudaFree", 2 * MS)
                    trace.call("cudaMalloc", 3 * MS)
                    trace.allocate(1 << 30, device=0)
                with trace.op("aten::linear"):
                    trace.launch(MATMUL, 4 * MS)
                trace.allocate(-(1 << 30), device=0)
            trace.item()
    return (trace,)


def _graph_replay() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(100 * US)
            trace.copy("HtoD", BATCH_BYTES, 800 * US, stream=21)
            trace.replay_graph([(MATMUL, 2 * MS)] * 40)
            trace.item()
    return (trace,)


def _startup_first() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(100 * US)
            if number == 0:
                trace.call("cudaMalloc", 250 * MS)
                trace.call("cuLibraryLoadData", 900 * MS)
            train_once(trace, 4 * MS)
            trace.item()
    return (trace,)


def _startup_only() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    with trace.step(0):
        trace.loader_wait(400 * MS)
        with trace.op("aten::empty"):
            trace.call("cudaMalloc", 250 * MS)
        with trace.op("aten::cudnn_convolution"):
            trace.call("cuLibraryLoadData", 900 * MS)
        train_once(trace, 4 * MS)
        trace.item()
    return (trace,)


def _no_steps() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for _ in range(40):
        with trace.op("aten::add", ns=40 * US):
            trace.launch(SMALL, 3 * US)
    trace.synchronize()
    return (trace,)


SINGLE = (
    Scenario("healthy", "healthy", "The device computes all the time in Tensor Cores.", _healthy),
    Scenario(
        "input-bound",
        "input",
        "The loader takes 60 ms for each batch, the device 21 ms.",
        _input_bound,
    ),
    Scenario("launch-bound", "host", "Kernels of 3 us, launched every 17 us.", _launch_bound),
    Scenario(
        "sync-each-operator",
        "sync",
        "A value is read back after each operator.",
        _sync_each_operator,
    ),
    Scenario(
        "pageable-copies",
        "copy",
        "Each batch is copied from pageable memory, for 40 ms.",
        _pageable_copies,
    ),
    Scenario(
        "no-tensor-cores",
        "compute",
        "All kernel time is in float32 matrix products.",
        _no_tensor_cores,
    ),
    Scenario(
        "allocator", "memory", "Memory goes back to the driver and is asked for again.", _allocator
    ),
    Scenario(
        "graph-replay",
        "healthy",
        "Each step is one launch of a graph of 40 kernels.",
        _graph_replay,
    ),
    Scenario(
        "startup-first", "compute", "The first step loads the device's libraries.", _startup_first
    ),
    Scenario("startup-only", "startup", "The only step is the first one.", _startup_only),
    Scenario("no-steps", "host", "Small kernels, and nothing that marks a step.", _no_steps),
)
