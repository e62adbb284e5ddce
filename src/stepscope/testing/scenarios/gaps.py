"""Runs without a device, and recordings that cannot carry a verdict about one."""

from __future__ import annotations

from stepscope.testing.builder import TraceBuilder
from stepscope.testing.host import Setup
from stepscope.testing.models import A100
from stepscope.testing.records import Span
from stepscope.testing.scenarios.base import (
    BATCH_BYTES,
    MATMUL,
    MS,
    STEPS,
    US,
    Scenario,
    train_once,
)


def _cpu_step(trace: TraceBuilder, number: int, wait_ns: int) -> None:
    with trace.step(number):
        trace.loader_wait(wait_ns, workers=False)
        for _ in range(4):
            trace.work("aten::addmm", 5 * MS)
        for _ in range(4):
            with trace.op("autograd::engine::evaluate_function: AddmmBackward0"):
                trace.work("aten::mm", 6 * MS)
        with trace.optimizer():
            trace.work("aten::_foreach_add_", 2 * MS)


def _cpu_healthy() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder(Setup())
    for number in range(STEPS):
        _cpu_step(trace, number, wait_ns=1 * MS)
    return (trace,)


def _cpu_input_bound() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder(Setup())
    for number in range(STEPS):
        _cpu_step(trace, number, wait_ns=80 * MS)
    return (trace,)


def _device_unused() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    for number in range(STEPS):
        _cpu_step(trace, number, wait_ns=1 * MS)
    return (trace,)


def _gpu_not_recorded() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder(Setup(gpus=(A100,), records_device=False))
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(100 * US)
            trace.copy("HtoD", BATCH_BYTES, 800 * US)
            train_once(trace, 2 * MS)
            trace.item()
    return (trace,)


def _nothing_recorded() -> tuple[TraceBuilder, ...]:
    trace = TraceBuilder()
    trace.pause(50 * MS)
    return (trace,)


def _launched_before() -> tuple[TraceBuilder, ...]:
    """A healthy run whose window opens while twenty kernels are still queued."""
    trace = TraceBuilder()
    at = trace.now_ns - 9_000
    for number in range(20):
        args = {"device": 0, "context": 1, "stream": 7, "correlation": 100 + number}
        trace.add(Span("kernel", MATMUL, 0, 7, at, at + 2 * MS, args))
        at += 2 * MS + US
    trace.wait_until(at)
    for number in range(STEPS):
        with trace.step(number):
            trace.loader_wait(100 * US)
            train_once(trace, 4 * MS)
            trace.item()
    return (trace,)


GAPS = (
    Scenario(
        "cpu-healthy",
        "healthy",
        "No device, and the processor computes all the time.",
        _cpu_healthy,
    ),
    Scenario(
        "cpu-input-bound",
        "input",
        "No device, and 80 ms of waiting for each batch.",
        _cpu_input_bound,
    ),
    Scenario(
        "device-unused",
        "device-unused",
        "A device is there and nothing is launched on it.",
        _device_unused,
    ),
    Scenario(
        "gpu-not-recorded",
        "not-recorded",
        "Launches, and no work on the device.",
        _gpu_not_recorded,
    ),
    Scenario(
        "nothing-recorded", "not-recorded", "A window in which no operator ran.", _nothing_recorded
    ),
    Scenario(
        "launched-before", "healthy", "Kernels launched before the window opened.", _launched_before
    ),
)
