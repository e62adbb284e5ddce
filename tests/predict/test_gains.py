"""Everything that is predicted for one rank."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from stepscope.analysis.results import run_all
from stepscope.predict import Setting, gains, shortest_calls, together_gain
from stepscope.predict.period import step_ns
from stepscope.predict.replay import replay
from stepscope.testing import A100, Setup, TraceBuilder
from stepscope.trace import load
from tests.predict.made import MATMUL, MS, PLAIN, US, Run, held_up, read
from tests.predict.test_replay import cpu_only, shared

FIELDS = ("input", "sync", "copy", "launch", "python", "communication", "tensor_cores")


def gains_of(trace, **more):
    return gains(trace, run_all(trace), **more)


def test_the_v100_pair_from_the_run_without_workers_alone():
    """Naive subtraction promises 1.42x; four workers gave 1.20x by medians."""
    trace = load([str(shared() / "v100-resnet50-workers0.json.gz")])[0]
    found = gains_of(trace)
    four = next(row.gain for row in found.workers if row.workers == 4)
    assert four.low <= 1.20 <= four.high
    assert four.high <= 1.2 * four.low
    assert four.high < 1.42
    assert four.basis == "pipeline-model"


def test_an_input_bound_run_gains_by_input_only():
    found = gains_of(Run(wait=40 * MS, workers=False).read())
    assert found.withheld == ""
    assert found.input is not None
    assert found.input.low > 1.8
    for name in ("sync", "copy", "communication", "allocator"):
        assert getattr(found, name) is None, name
    assert found.python.high < 1.02


def test_every_range_is_ordered_and_means_its_step_times():
    run = Run(wait=5 * MS, copy=2 * MS, pinned=False, item=True, collective=200 * US, name=PLAIN)
    trace = run.read()
    found = gains_of(trace, with_path=True)
    base = replay(trace)
    now = step_ns(base.graph, base.times) / 1e6
    for name in FIELDS:
        gain = getattr(found, name)
        assert gain is not None, name
        assert 1 <= gain.low <= gain.high, name
        assert gain.step_ms_low == pytest.approx(now / gain.high)
        assert gain.step_ms_high == pytest.approx(now / gain.low)
    assert found.path is not None
    assert found.path.step_ms == pytest.approx(now)
    assert found == replace(gains_of(trace), path=found.path)


def test_tensor_cores_are_bounded_by_memory_and_peak():
    found = gains_of(Run(name=PLAIN, kernel=2 * MS).read()).tensor_cores
    assert found is not None
    assert found.basis == "roofline"
    assert 1.8 < found.low < 2.1
    assert 8 < found.high < 16.1
    assert gains_of(Run(name=MATMUL).read()).tensor_cores is None


def test_a_run_that_the_replay_does_not_explain_gets_no_prediction():
    found = gains_of(held_up())
    assert found.error_frac > 0.05
    assert "replaying" in found.withheld
    assert all(getattr(found, name) is None for name in FIELDS)


def test_a_window_with_nothing_in_it_gets_no_prediction():
    trace = TraceBuilder()
    trace.work("aten::add", 1 * MS)
    found = gains_of(read(trace))
    assert found.withheld
    assert found.path is None


def test_on_the_cpu_input_and_python_are_predicted():
    found = gains_of(cpu_only())
    assert found.input is not None
    assert found.input.low < 5 / 2 < found.input.high < 2.6
    assert found.launch is None
    assert 1 <= found.python.low <= found.python.high < 1.05


def test_a_step_of_which_nothing_would_be_left_gets_no_prediction():
    trace = TraceBuilder()
    for number in range(4):
        with trace.step(number):
            trace.pause(5 * MS)
    assert gains_of(read(trace)).python is None


def test_the_profilers_weight_is_taken_out():
    trace = Run(wait=10 * MS, workers=False, kernel=5 * US, kernels=200).read()
    base = replay(trace)
    clean = step_ns(base.graph, base.times) - 3 * MS
    inflated, mended = gains_of(trace), gains_of(trace, setting=Setting(clean_step_ns=clean))
    assert mended.input.high > inflated.input.high
    assert mended.input.step_ms_low * mended.input.high == pytest.approx(clean / 1e6, rel=0.01)


def test_a_clean_step_that_no_host_explains_changes_nothing():
    trace = Run(kernel=2 * MS).read()
    impossible = gains_of(trace, setting=Setting(clean_step_ns=1 * MS))
    assert impossible.python == gains_of(trace).python


def late(rank):
    """Two ranks, the second of which computes 10 ms longer before every collective."""
    trace = TraceBuilder(Setup(rank=rank, world_size=2, gpus=(A100,)))
    for number in range(4):
        with trace.step(number):
            with trace.op("aten::linear"):
                trace.launch(MATMUL, 15 * MS if rank else 5 * MS)
            start = trace.setup.start_ns + number * 20 * MS
            trace.collective("allreduce", 1_000, 1 * MS, until_ns=start + 16 * MS)
            trace.wait_for_communication()
            with trace.op("aten::add"):
                trace.launch(MATMUL, 1 * MS)
            trace.synchronize()
            trace.wait_until(start + 20 * MS)
    return read(trace)


def test_ranks_that_arrive_together_gain_on_those_that_waited():
    traces = [late(0), late(1)]
    results = [run_all(trace) for trace in traces]
    shortest = shortest_calls(results)
    assert shortest is not None
    waited, came_last = map(together_gain, traces, shortest)
    assert waited is not None
    assert came_last is not None
    assert waited.low > 1.3
    assert came_last.high < 1.1


def test_ranks_with_different_collectives_are_not_compared():
    results = [run_all(late(0)), run_all(Run(collective=1 * MS).read())]
    assert shortest_calls(results) is None
    assert shortest_calls(results[:1]) is None
