"""The critical path sums to its length and names what the steps consist of."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.predict.critical import PARTS, critical_path
from stepscope.predict.replay import replay
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
    assert path.length_ns >= done.replayed_ns.sum()
