"""The critical path sums to its length and names what the steps consist of."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.predict.critical import PARTS, critical_path
from stepscope.predict.replay import replay
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
    assert max(PARTS, key=path.share) == part
    assert path.share(part) > 0.5


SHARED = 2 * US
"""Of a step; it does not grow with the step's length."""


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
    # Neighbouring steps may share a little, as lags and spaces are medians of whole numbers.
    assert path.length_ns >= 0.999 * done.replayed_ns[done.graph.is_steady].sum() - 3 * SHARED


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
