"""What the data can carry: when nothing is said, and what is."""

from __future__ import annotations

import pytest

from tests.trace import small
from tests.trace.small import annotation, codes, kernel, launch, notice, op, read, training


def test_a_plain_run_gets_no_notice(tmp_path):
    trace = read(tmp_path, training(5))
    assert codes(trace) == []
    assert (trace.usable, trace.gpu_recorded) == (True, True)


def test_a_plain_run_on_the_cpu_gets_no_notice(tmp_path):
    trace = read(tmp_path, training(5, gpu=False))
    assert codes(trace) == []
    assert (trace.usable, trace.gpu_recorded) == (True, None)


def test_kernels_launched_before_the_window_are_told_with_their_share(tmp_path):
    trace = read(tmp_path, [op("a", 0, 500), launch(5, 1), kernel(10, 30, 1), kernel(50, 90, 7)])
    said = notice(trace, "kernels-without-launch")
    assert said.count == 1
    assert "75 %" in said.text
    assert "before the window" in said.text


def test_kernels_without_any_call_in_the_trace_are_told_as_that(tmp_path):
    trace = read(tmp_path, [op("a", 0, 500), kernel(10, 30, 1)])
    assert "holds no calls" in notice(trace, "kernels-without-launch").text


def test_a_few_launches_without_kernels_are_not_worth_a_word(tmp_path):
    events = training(100)
    events = [e for e in events if e["cat"] != "kernel" or e["args"]["correlation"] > 101]
    assert "launches-without-kernel" not in codes(read(tmp_path, events))


@pytest.mark.parametrize("lost", [0, 49, 50, 51])
def test_up_to_half_of_the_steps_may_be_empty(tmp_path, lost):
    events = training(100)
    events = [e for e in events if e["cat"] != "kernel" or e["args"]["correlation"] >= 100 + lost]
    trace = read(tmp_path, events)
    assert trace.usable == (lost <= 50)
    assert ("steps-without-device-work" in codes(trace)) == (lost > 0)


def test_a_step_that_launches_nothing_is_not_empty(tmp_path):
    events = [*training(3), annotation("ProfilerStep#3", 3000, 900), op("cpu", 3100, 500)]
    assert codes(read(tmp_path, events)) == []


def test_work_of_a_step_that_runs_in_the_next_is_its_work(tmp_path):
    events = training(4, kernels=False)
    events += [kernel(1000 * n + 1100, 300, 100 + n) for n in range(4)]
    assert "steps-without-device-work" not in codes(read(tmp_path, events))


def test_look_alikes_of_communication_are_counted_aloud(tmp_path):
    events = [*training(2), kernel(700, 100, 100, name="my_all_to_all_thing")]
    trace = read(tmp_path, events)
    assert not trace.device["is_communication"].any()
    assert "100 µs" in notice(trace, "communication-lookalike").text


def test_missing_ranks_are_named_up_to_eight(tmp_path):
    info = {"backend": "nccl", "rank": 1, "world_size": 12}
    trace = read(tmp_path, small.text_of(training(), distributedInfo=info))
    assert "(0, 2, 3, 4, 5, 6, 7, 8, ...)" in notice(trace, "missing-ranks").text


@pytest.mark.parametrize("name", ["aten::cudnn_batch_norm", "aten::_flash_attention_forward"])
def test_operators_that_exist_on_a_gpu_only_betray_a_gpu(tmp_path, name):
    assert read(tmp_path, [op(name, 0, 5)]).gpu_recorded is False


def test_no_notice_breaks_a_line_or_ends_without_a_stop(tmp_path):
    events = [*training(32, kernels=False), kernel(4160, 3_000_000, 104), kernel(5, 9, 999)]
    events += [{**op("x", 0, 1), "ts": 0}, {**op("y", 0, -5)}, small.event("odd\ncat", "z", 0, 1)]
    trace = read(tmp_path, small.text_of(events)[:-30])
    assert len(trace.notices) > 3
    for said in trace.notices:
        assert "\n" not in said.text
        assert said.text.endswith(".")
        assert said.count >= 0
