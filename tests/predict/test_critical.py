"""The critical path sums to its length and names what the steps consist of."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from stepscope.predict import change
from stepscope.predict.critical import critical_path
from stepscope.predict.graph import COMMUNICATION, COMPUTE, INPUT, OPERATOR, REST
from stepscope.predict.period import pace_of, step_ns
from stepscope.predict.replay import replay
from stepscope.predict.simulate import simulate
from stepscope.schema.vocabulary import PATH_PARTS
from stepscope.trace import load
from tests.predict.made import MS, US, Run

CASES = {
    "input": Run(wait=50 * MS, kernel=100 * US),
    "compute": Run(kernel=4 * MS),
    "operators": Run(kernel=3 * US, kernels=100, operator=100 * US),
    "pauses": Run(kernel=3 * US, kernels=100, python=200 * US),
    "communication": Run(collective=5 * MS, kernel=100 * US),
    "copies": Run(copy=80 * MS, pinned=False),
}


@pytest.mark.parametrize("part", CASES)
def test_the_largest_part_is_what_was_planted(part):
    done = replay(CASES[part].read())
    path = critical_path(done.graph, done.times)
    assert max(PATH_PARTS, key=path.share) == part
    assert path.share(part) > 0.5


@settings(max_examples=15, deadline=None)
@given(
    wait=st.integers(0, 5 * MS),
    copy=st.integers(0, 3 * MS),
    pinned=st.booleans(),
    kernel=st.integers(1 * US, 1 * MS),
    item=st.booleans(),
    collective=st.integers(0, 1 * MS),
)
def test_the_parts_sum_to_the_length(wait, copy, pinned, kernel, item, collective):
    run = Run(
        steps=3,
        kernels=3,
        wait=wait,
        copy=copy,
        pinned=pinned,
        kernel=kernel,
        item=item,
        collective=collective,
    )
    done = replay(run.read())
    path = critical_path(done.graph, done.times)
    assert sum(path.parts_ns) == path.length_ns
    assert min(path.parts_ns) >= 0
    assert path.length_ns / path.steps == pytest.approx(step_ns(done.graph, done.times))


SLOWER = 1.01
WAYS = {
    "input": lambda graph: scaled(graph, INPUT),
    "operators": lambda graph: scaled(graph, OPERATOR),
    "python": lambda graph: scaled(graph, REST),
    "compute": lambda graph: change.faster(graph, graph.sort == COMPUTE, 1 / SLOWER),
    "communication": lambda graph: change.faster(graph, graph.sort == COMMUNICATION, 1 / SLOWER),
}


def scaled(graph, column):
    gaps = graph.gaps.astype(float)
    gaps[:, column] *= SLOWER
    return replace(graph, gaps=np.rint(gaps).astype(np.int64))


@pytest.mark.parametrize("case", CASES)
def test_a_share_is_what_the_step_takes_longer_by_when_that_part_does(case):
    """On the path a hundredth more is a hundredth of the share more; beside it, nothing."""
    done = replay(CASES[case].read())
    path = critical_path(done.graph, done.times)
    before = step_ns(done.graph, done.times)
    for part, way in WAYS.items():
        slower = way(done.graph)
        longer = step_ns(slower, simulate(slower)) / before - 1
        assert longer / (SLOWER - 1) == pytest.approx(path.share(part), abs=0.01), part


def test_the_device_sets_the_pace_where_the_host_runs_ahead():
    """Nothing ever waits for the device, whose work takes twice as long as its launches: the host is not on the path."""
    done = replay(Run(kernel=4 * MS).read())
    assert pace_of(done.graph, done.times).on_device
    assert critical_path(done.graph, done.times).share("compute") > 0.95


def test_a_kernel_whose_launch_is_missing_is_walked_through_once(tmp_path):
    """It stands before the launched one in the graph and after it in time, so that each follows the other."""
    host = {"ph": "X", "pid": 1, "tid": 1}
    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "dur": 20}
    events = [
        {**host, "cat": "cpu_op", "name": "aten::ones", "ts": 100, "dur": 300},
        {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 116, "dur": 1,
         "args": {"correlation": 1}},
        {**kernel, "ts": 116, "args": {"device": 0, "stream": 7, "correlation": 1}},
        {**kernel, "ts": 149, "args": {"device": 0, "stream": 7, "correlation": 2}},
        {**host, "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "ts": 150, "dur": 30,
         "args": {"correlation": 3}},
    ]  # fmt: skip
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    (trace,) = load([path])
    done = replay(trace)
    found = critical_path(done.graph, done.times)
    assert sum(found.parts_ns) == found.length_ns > 0
