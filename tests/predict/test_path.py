"""The critical path as the report tells it, and when it is not told."""

from __future__ import annotations

import pytest

from stepscope.analysis.results import run_all
from stepscope.predict import Setting, gains
from stepscope.predict.path import gaps_of
from stepscope.predict.period import step_ns
from stepscope.predict.replay import replay
from stepscope.testing import TraceBuilder
from stepscope.trace import load
from tests.predict.made import MATMUL, MS, PLAIN, US, Run, held_up, read
from tests.predict.test_replay import cpu_only, shared


def found(trace, **more):
    return gains(trace, run_all(trace), with_path=True, **more)


def test_the_kernel_that_is_waited_for_is_named_with_what_twice_its_speed_gains():
    path = found(Run(name=PLAIN, kernel=2 * MS).read()).path
    (row,) = path.kernels
    assert row.name == PLAIN
    assert row.ms == pytest.approx(20 * 2)
    assert row.ms < path.parts_ms["compute"]
    assert row.gain.low <= 1 / (1 - row.frac / 2) <= row.gain.high


def test_a_kernel_beside_the_path_is_not_named():
    path = found(Run(wait=50 * MS, kernel=10 * US).read()).path
    assert path.kernels == ()
    assert path.parts_ms["input"] > 0.9 * path.step_ms


def test_a_path_without_the_profilers_weight_says_so():
    trace = Run(wait=10 * MS, workers=False, kernel=5 * US, kernels=200).read()
    base = replay(trace)
    clean = step_ns(base.graph, base.times) - 3 * MS
    path = found(trace, setting=Setting(clean_step_ns=clean)).path
    assert path.is_clean
    assert path.step_ms == pytest.approx(clean / 1e6, rel=0.01)
    assert not found(trace).path.is_clean
    assert not found(trace, setting=Setting(clean_step_ns=1 * MS)).path.is_clean


def test_without_a_device_the_parts_of_the_step_say_it_all():
    gain = found(cpu_only())
    assert gain.path is None
    assert gain.no_path == "nothing ran on a device beside the training thread"


def test_of_steps_that_the_replay_does_not_give_back_there_is_none():
    gain = found(held_up())
    assert gain.path is None
    assert "replaying" in gain.no_path


def test_without_operators_nobody_knows_what_the_host_does_between_launches():
    trace = TraceBuilder()
    for number in range(4):
        with trace.step(number):
            for _ in range(20):
                trace.pause(300 * US)
                trace.launch(MATMUL, 10 * US)
    gain = found(read(trace))
    assert gain.path is None
    assert "more than a third" in gain.no_path


def test_the_profilers_own_waiting_is_told_apart():
    """It comes before the first operator of the window, when work of the step before still runs."""
    trace = TraceBuilder()
    for number in range(3):
        with trace.step(number):
            if number == 0:
                trace.pause(20 * US)
                trace.synchronize()
                trace.pause(1 * MS)
            with trace.op("aten::linear"):
                trace.launch(MATMUL, 5 * MS)
            trace.synchronize()
    made = read(trace)
    graph = replay(made).graph
    gaps = gaps_of(made, graph)
    assert (gaps.sum(axis=1) == graph.gaps.sum(axis=1)).all()
    assert gaps[:, -2].sum() > 0
    assert gaps[:, -2].sum() < graph.gaps[:, 3:].sum()


SHARED = {
    "v100-resnet50-workers0": ("operators", 0.40, 0.50),
    "h100-owlv2-inference": ("input", 0.48, 0.54),
    "nvidia-ns-resolution": ("compute", 0.95, 1.0),
    "torch-compile-triton": ("compute", 0.95, 1.0),
    "nvidia-nccl-collectives": ("operators", 0.75, 0.85),
    "rtx2080ti-resnet-no-steps": ("input", 0.6, 0.7),
}


@pytest.mark.parametrize("name", SHARED)
def test_shared_traces(name):
    largest, low, high = SHARED[name]
    path = found(load([str(shared() / f"{name}.json.gz")])[0]).path
    assert sum(path.parts_ms.values()) == pytest.approx(path.step_ms)
    assert max(path.parts_ms, key=path.parts_ms.get) == largest
    assert low <= path.parts_ms[largest] / path.step_ms <= high


@pytest.mark.parametrize("name", ["a4000-cuda-activity-only", "mi210-gpu-only", "mtia-inference"])
def test_shared_traces_that_do_not_tell(name):
    assert found(load([str(shared() / f"{name}.json.gz")])[0]).path is None
