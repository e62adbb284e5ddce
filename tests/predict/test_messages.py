"""Messages that could be sent together, or not at all."""

from __future__ import annotations

import pytest

from stepscope.testing import A100, Group, Setup, TraceBuilder
from tests.predict.made import read
from tests.predict.test_classes import ADD, MATMUL, MS, US, classes


def reduced(count, *, elements=10_000, ns=50 * US, between=0, groups=1):
    """Six steps of 5 ms of compute and so many messages behind it."""
    trace = TraceBuilder(Setup(rank=0, world_size=2, gpus=(A100,)))
    for number in range(6):
        with trace.step(number):
            with trace.op("aten::linear", ns=20 * US):
                trace.launch(MATMUL, 5 * MS)
            for message in range(count):
                group = Group(name=str(message % groups), ranks=(0, 1))
                trace.collective("allreduce", elements, ns, group=group)
                trace.wait_for_communication()
                if between:
                    with trace.op("aten::add_", ns=5 * US):
                        trace.launch(ADD, between)
            with trace.optimizer("SGD"):
                trace.launch(ADD, 50 * US)
            trace.item()
    return read(trace)


def test_small_messages_in_a_row_could_be_one():
    found = classes(reduced(100))["messages"]
    assert found.kernels == 100
    assert found.work_ns == pytest.approx(100 * 50 * US, rel=0.02)
    # Of 10 ms half or nearly all of the messages' 5 ms can go.
    assert found.gain.low == pytest.approx(10 / 7.5, rel=0.06)
    assert found.gain.high == pytest.approx(10 / 5, rel=0.08)


@pytest.mark.parametrize(
    ("count", "how"),
    [
        (100, {"elements": 300_000}),
        (100, {"between": 10 * US}),
        (3, {}),
        (100, {"groups": 50}),
    ],
    ids=["larger", "something is computed between", "three", "other groups"],
)
def test_messages_that_cannot_be_joined_are_left_alone(count, how):
    assert "messages" not in classes(reduced(count, **how))


def accumulated(micro, *, sends, forward="DistributedDataParallel.forward", last=True):
    """Six steps of the optimizer with so many micro-batches, of which the last is sent, or all are."""
    trace = TraceBuilder(Setup(rank=0, world_size=2, gpus=(A100,)))
    for number in range(6):
        with trace.step(number):
            for batch in range(micro):
                with trace.annotation(forward), trace.op("aten::linear", ns=20 * US):
                    trace.launch(MATMUL, 1 * MS)
                with trace.backward():
                    with trace.op("autograd::engine::evaluate_function: X", ns=20 * US):
                        trace.launch(MATMUL, 1 * MS)
                    if sends or batch == micro - 1:
                        trace.collective("allreduce", 5_000_000, 1 * MS)
                trace.wait_for_communication()
            if last:
                with trace.optimizer("SGD"):
                    trace.launch(ADD, 50 * US)
            trace.item()
    return read(trace)


def test_gradients_of_all_micro_batches_but_the_last_need_not_be_sent():
    found = classes(accumulated(4, sends=True))["micro"]
    assert found.kernels == 3
    assert found.work_ns == pytest.approx(3 * MS, rel=0.02)
    assert found.gain.low < 12 / 9 < found.gain.high


@pytest.mark.parametrize(
    ("micro", "how"),
    [
        (4, {"sends": False}),
        (1, {"sends": True}),
        (4, {"sends": True, "forward": "forward"}),
        (4, {"sends": True, "last": False}),
    ],
    ids=["no_sync", "one batch a step", "no range of the model", "no optimizer"],
)
def test_gradients_that_are_needed_or_of_which_nothing_is_known_are_left_alone(micro, how):
    assert "micro" not in classes(accumulated(micro, **how))
