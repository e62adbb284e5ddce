"""A replay without any change gives the recorded steps back."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from stepscope.predict.graph import NONE, WAIT, WAIT_ALL
from stepscope.predict.period import step_ns
from stepscope.predict.replay import replay
from stepscope.testing import TraceBuilder
from stepscope.trace import load
from tests.predict.made import MATMUL, MS, US, Run, held_up, read

RUNS = {
    "device bound": Run(kernel=3 * MS),
    "host bound": Run(kernel=5 * US, kernels=200),
    "input bound": Run(wait=50 * MS, workers=False),
    "read back": Run(item=True),
    "blocking copy": Run(copy=5 * MS, pinned=False),
    "communication": Run(collective=500 * US),
    "no device": None,
}


def shared():
    folder = os.environ.get("STEPSCOPE_TRACES")
    if not folder:
        pytest.skip("STEPSCOPE_TRACES does not name a folder of traces")
    return Path(folder)


def cpu_only(work=2 * MS):
    trace = TraceBuilder()
    for number in range(4):
        with trace.step(number):
            trace.loader_wait(3 * MS)
            trace.work("aten::linear", work)
    return read(trace)


@pytest.mark.parametrize("name", RUNS)
def test_a_made_run_is_given_back_within_a_hundredth(name):
    run = RUNS[name]
    done = replay(run.read() if run else cpu_only())
    assert len(done.error_frac) >= 4
    assert done.error_frac.max() < 0.01


def test_a_start_that_nothing_explains_shows_as_an_error():
    done = replay(held_up())
    assert done.error_frac.min() > 0.5


def test_the_training_thread_waits_for_autograds_thread():
    graph = replay(Run(kernel=5 * US).read()).graph
    # In each step autograd's first anchor follows the training thread's and the other way round.
    crossed = (graph.after != NONE) & (graph.after != np.arange(len(graph.after)) - 1)
    assert not crossed.any(), "the threads take turns, so each anchor follows the one before"


def test_a_full_queue_keeps_the_host_from_running_away():
    trace = TraceBuilder()
    ends = []
    for number in range(3):
        with trace.step(number):
            for _ in range(800):
                with trace.op("aten::add", ns=5 * US):
                    start = trace.now_ns
                    ends.append(trace.launch(MATMUL, 100 * US))
                    if len(ends) > 1022:
                        trace._lengthen_call(start, max(ends[-1023], trace.now_ns))
    done = replay(read(trace))
    assert done.error_frac.max() < 0.01
    # Replayed without a limit, the host would be far ahead of the device.
    assert done.measured_ns[2] > 70 * MS


def test_what_blocking_calls_wait_for():
    trace = TraceBuilder()
    with trace.step(0):
        with trace.op("aten::linear"):
            trace.launch(MATMUL, 4 * MS)
        trace.item()
        with trace.op("aten::linear"):
            trace.launch(MATMUL, 4 * MS)
        trace.synchronize()
        trace.work("aten::add", 10 * US)
    with trace.step(1):
        trace.work("aten::add", 10 * US)
    graph = replay(read(trace)).graph
    blocking = np.flatnonzero((graph.kind == WAIT) & (graph.wait != NONE))
    assert {int(graph.wait[row]) for row in blocking} == {1}, "both calls of item wait for its copy"
    assert (graph.kind == WAIT_ALL).sum() == 1


def test_without_steps_the_stretch_from_first_call_to_last_work_counts():
    trace = TraceBuilder()
    trace.pause(30 * MS)
    with trace.op("aten::linear", ns=0):
        trace.launch(MATMUL, 10 * MS)
    done = replay(read(trace))
    assert done.measured_ns.tolist() == [10 * MS + 6 * US]
    assert step_ns(done.graph, done.times) == pytest.approx(done.replayed_ns[0])


@pytest.mark.slow
def test_the_steps_of_real_traces_are_given_back():
    """Median below 2 %, nine of ten below 5 %."""
    errors = []
    folder = shared()
    names = sorted(p for p in folder.iterdir() if p.suffix == ".gz" or p.is_dir())
    for path in names:
        if path.name == "recorded":
            continue
        for trace in load(sorted(map(str, path.iterdir())) if path.is_dir() else [str(path)]):
            if trace.device["launch"].is_not_null().any():
                errors.extend(replay(trace).error_frac.tolist())
    assert len(errors) >= 70
    assert np.median(errors) < 0.02
    assert np.mean(np.array(errors) < 0.05) >= 0.9
