"""Where steps come from when nobody marked them, and where the last one ends."""

import pytest

from stepscope.testing.builder import TraceBuilder
from stepscope.trace import load

MS = 1_000_000


def read(builder, tmp_path):
    return load([builder.write(tmp_path / "trace.json")])[0]


def train(builder, batches, *, accumulate=1, optimizers=("SGD",), end_of_epoch=False):
    for number in range(batches):
        builder.loader_wait(3 * MS)
        builder.work("aten::mm", 2 * MS)
        if (number + 1) % accumulate == 0:
            for name in optimizers:
                with builder.optimizer(name):
                    builder.work("aten::add_", MS)
    if end_of_epoch:
        builder.loader_wait(1000)


def test_marks_come_first(tmp_path):
    builder = TraceBuilder()
    for number in (7, 8):
        with builder.step(number):
            train(builder, 1)
    trace = read(builder, tmp_path)
    assert (trace.step_source, trace.steps["number"].to_list()) == ("profiler-step", [7, 8])


@pytest.mark.parametrize("end_of_epoch", [False, True])
def test_one_batch_an_update(tmp_path, end_of_epoch):
    builder = TraceBuilder()
    train(builder, 5, end_of_epoch=end_of_epoch)
    trace = read(builder, tmp_path)
    lengths = (trace.steps["end_ns"] - trace.steps["start_ns"]).to_list()
    assert (trace.step_source, len(lengths)) == ("optimizer", 5)
    assert min(lengths) >= 6 * MS


def test_accumulated_gradients_make_one_step_of_several_batches(tmp_path):
    builder = TraceBuilder()
    train(builder, 8, accumulate=4)
    trace = read(builder, tmp_path)
    assert (trace.step_source, len(trace.steps)) == ("optimizer", 2)
    assert trace.steps["is_partial"].to_list() == [True, False]


def test_optimizers_that_take_turns_make_one_step(tmp_path):
    builder = TraceBuilder()
    train(builder, 4, optimizers=("Adam", "SGD"))
    assert len(read(builder, tmp_path).steps) == 4


def test_batches_alone_when_nothing_is_optimised(tmp_path):
    builder = TraceBuilder()
    for _ in range(3):
        builder.loader_wait(3 * MS)
        builder.work("aten::mm", 2 * MS)
    trace = read(builder, tmp_path)
    assert (trace.step_source, len(trace.steps)) == ("dataloader", 3)


def test_a_range_that_repeats(tmp_path):
    builder = TraceBuilder()
    for number in range(4):
        with builder.annotation(f"iteration {number}"):
            builder.work("aten::mm", 2 * MS)
    trace = read(builder, tmp_path)
    assert (trace.step_source, len(trace.steps)) == ("annotation", 4)


def test_nothing_to_go_by(tmp_path):
    builder = TraceBuilder()
    builder.work("aten::mm", 2 * MS)
    builder.work("aten::mm", 2 * MS)
    trace = read(builder, tmp_path)
    assert (trace.step_source, len(trace.steps)) == ("window", 0)


def test_the_profilers_closing_call_is_no_part_of_the_last_step(tmp_path):
    builder = TraceBuilder()
    train(builder, 3)
    last_work = builder.now_ns
    builder.call("cudaDeviceSynchronize", 500 * MS)
    trace = read(builder, tmp_path)
    start = trace.host["start_ns"].to_list()[0]
    assert trace.steps["end_ns"].to_list()[-1] - start <= last_work
    assert trace.windows[0].end_ns - trace.steps["end_ns"].to_list()[-1] >= 499 * MS
