"""Stretches taken at once give the same nanoseconds as walking through a graph one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.predict.graph import LAUNCH, MARK, NONE, WAIT, WAIT_ALL, Graph
from stepscope.predict.simulate import one_by_one, simulate
from stepscope.predict.stretches import Stretches

TIMES = ("start", "end", "work_start", "work_end")


def made(seed: int, *, anchors: int, waits: float, odd: float, depth: int) -> Graph:
    """A graph of any form: threads that hand over, streams that need each other, work that nobody launched."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(
        [LAUNCH, WAIT, WAIT_ALL, MARK],
        size=anchors,
        p=[0.9 - waits, waits / 2, waits / 2, 0.1],
    )
    after = np.arange(anchors) - 1
    jumps = np.flatnonzero(rng.random(anchors) < odd)
    after[jumps] = [int(rng.integers(NONE, jump)) for jump in jumps.tolist()]
    # A blocking copy launches what it waits for.
    each = np.where((kind == LAUNCH) | (kind == WAIT), rng.integers(0, 3, anchors), 0)
    launch = np.repeat(np.arange(anchors), each)
    upto = np.cumsum(each)
    work = len(launch)
    launch[rng.random(work) < odd] = NONE
    stream = np.cumsum(rng.random(work) < odd) % 3
    needs = np.full(work, NONE)
    needing = np.flatnonzero((rng.random(work) < odd) & (np.arange(work) > 0))
    needs[needing] = [int(rng.integers(0, row)) for row in needing.tolist()]
    known = upto > 0
    wait = np.where((kind == WAIT) & known, rng.integers(0, np.maximum(upto, 1)), NONE)
    wait[rng.random(anchors) < odd] = NONE
    start = 10**18 + np.cumsum(rng.integers(0, 90, anchors))

    def some(low: int, high: int, count: int) -> np.ndarray:
        return rng.integers(low, high, count).astype(np.int64)

    return Graph(
        kind=kind.astype(np.int64),
        origin=start,
        returned=start + 5,
        is_main=np.ones(anchors, np.bool_),
        after=after.astype(np.int64),
        gaps=some(-2, 20, anchors * 5).reshape(anchors, 5),
        own=some(0, 30, anchors),
        wait=wait.astype(np.int64),
        post=some(0, 9, anchors),
        upto=upto.astype(np.int64),
        sort=np.zeros(work, np.int64),
        stream=stream.astype(np.int64),
        length=some(0, 120, work),
        launch=launch.astype(np.int64),
        lag=some(0, 40, work),
        space=some(-20 if odd else 0, 9, work),
        needs=needs.astype(np.int64),
        begun=10**18 + some(0, 45 * anchors, work),
        table_row=np.arange(work),
        starts=np.array([0]),
        ends=np.array([anchors - 1]),
        is_steady=np.array([True]),
        are_steps=True,
        depth=depth,
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    anchors=st.integers(1, 300),
    waits=st.sampled_from([0.0, 0.02, 0.3]),
    odd=st.sampled_from([0.0, 0.05, 0.4]),
    depth=st.sampled_from([0, 1, 7, 64]),
)
def test_stretches_give_the_times_of_the_walk(seed, anchors, waits, odd, depth):
    graph = made(seed, anchors=anchors, waits=waits, odd=odd, depth=depth)
    walked, taken = one_by_one(graph), Stretches(graph).run()
    for name, found in zip(TIMES, taken, strict=True):
        assert np.array_equal(getattr(walked, name), found), name


@pytest.mark.parametrize(("waits", "odd", "are_long"), [(0.01, 0.0, True), (0.3, 0.4, False)])
def test_graphs_that_wait_at_every_turn_are_walked(waits, odd, are_long):
    graph = made(7, anchors=400, waits=waits, odd=odd, depth=16)
    assert Stretches(graph).are_long is are_long
    walked, chosen = one_by_one(graph), simulate(graph)
    assert all(np.array_equal(getattr(walked, n), getattr(chosen, n)) for n in TIMES)


def test_a_graph_without_anchors_is_walked():
    graph = made(1, anchors=0, waits=0.0, odd=0.0, depth=0)
    assert not Stretches(graph).are_long
    assert all(len(getattr(simulate(graph), name)) == 0 for name in TIMES)
