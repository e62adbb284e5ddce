"""Depth, parent and self time, held against a stack that is walked event by event."""

from __future__ import annotations

import time
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.trace import compiled, nesting
from stepscope.trace.nesting import ROUNDING_NS, nest


@pytest.fixture(scope="module", autouse=True, params=["core", "alone"])
def way(request):
    """By the compiled core, and by Python alone."""
    if request.param == "core" and compiled.core is None:
        pytest.skip("the compiled core was not built: no C compiler here")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "alone":
            patch.setattr(compiled, "core", None)
        yield request.param


def trees(level=3):
    """Nested spans: (gap before, own time before the children, children, own time behind them)."""
    leaf: st.SearchStrategy = st.tuples(
        st.integers(0, 3), st.integers(1, 3), st.just([]), st.integers(1, 3)
    )
    node = leaf
    for _ in range(level):
        node = st.tuples(
            st.integers(0, 3), st.integers(1, 3), st.lists(node, max_size=3), st.integers(1, 3)
        )
    return st.lists(node, max_size=4)


def laid_out(nodes, at, parent, depth, rows):
    for gap, before, children, behind in nodes:
        start = at + gap
        row = len(rows)
        rows.append([start, 0, parent, depth, 0])
        end = laid_out(children, start + before, row, depth + 1, rows) + behind
        inside = sum(r[1] - r[0] for r in rows[row + 1 :] if r[2] == row)
        rows[row][1], rows[row][4] = end, end - start - inside
        at = end
    return at


@given(trees(), trees())
@settings(deadline=None, max_examples=200)
def test_what_nests_is_found_as_it_was_made(one, other):
    threads = []
    for nodes in (one, other):
        rows: list[list[int]] = []
        laid_out(nodes, 0, -1, 0, rows)
        threads.append(rows)
    thread = np.array([0] * len(threads[0]) + [1] * len(threads[1]), np.int64)
    rows = threads[0] + threads[1]
    start = np.array([r[0] for r in rows], np.int64)
    end = np.array([r[1] for r in rows], np.int64)
    depth, parent, own = nest(thread, start, end)
    offset = len(threads[0])
    wanted = [-1 if r[2] < 0 else r[2] + (offset if n >= offset else 0) for n, r in enumerate(rows)]
    assert depth.tolist() == [r[3] for r in rows]
    assert parent.tolist() == wanted
    assert own.tolist() == [r[4] for r in rows]


spans = st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 9_000)), max_size=25)


@given(spans)
@settings(deadline=None, max_examples=300)
def test_any_spans_give_parents_that_start_before_and_last_into_the_child(pairs):
    pairs = sorted(((a, a + d) for a, d in pairs), key=lambda p: (p[0], -p[1]))
    start = np.array([p[0] for p in pairs], np.int64)
    end = np.array([p[1] for p in pairs], np.int64)
    depth, parent, own = nest(np.zeros(len(pairs), np.int64), start, end)
    assert (own >= 0).all()
    for row, above in enumerate(parent.tolist()):
        if above < 0:
            assert depth[row] == 0
            continue
        assert above < row
        assert depth[row] == depth[above] + 1
        assert start[above] <= start[row]
        is_point = start[above] == end[above] == start[row] == end[row]
        assert end[above] > start[row] or is_point
        if end[row] > end[above] and start[above] < start[row]:
            assert end[above] - start[row] > ROUNDING_NS


def test_siblings_that_overlap_by_a_rounded_microsecond_stay_siblings():
    start = np.array([0, 0, 5_000], np.int64)
    end = np.array([10_000, 6_000, 9_000], np.int64)
    depth, parent, own = nest(np.zeros(3, np.int64), start, end)
    assert parent.tolist() == [-1, 0, 0]
    assert depth.tolist() == [0, 1, 1]
    assert own.tolist() == [0, 6_000, 4_000]


def test_a_child_that_outlasts_its_parent_by_far_stays_its_child():
    start = np.array([0, 4_000], np.int64)
    end = np.array([10_000, 50_000], np.int64)
    _, parent, own = nest(np.zeros(2, np.int64), start, end)
    assert parent.tolist() == [-1, 0]
    assert own.tolist() == [4_000, 46_000]


def test_a_stack_a_hundred_thousand_deep_takes_no_square():
    count = 100_000
    start = np.arange(count, dtype=np.int64)
    end = 3 * count - start
    began = time.process_time()
    depth, parent, _ = nest(np.zeros(count, np.int64), start, end)
    assert time.process_time() - began < 30
    assert depth.tolist() == list(range(count))
    assert parent.tolist() == list(range(-1, count - 1))


def test_times_far_from_zero_do_not_run_over():
    start = np.array([2**61, 2**61 + 5], np.int64)
    depth, parent, own = nest(np.zeros(2, np.int64), start, start + np.array([20, 5]))
    assert (depth.tolist(), parent.tolist(), own.tolist()) == ([0, 1], [-1, 0], [15, 5])


def test_nothing():
    empty = np.empty(0, np.int64)
    assert [len(column) for column in nest(empty, empty, empty)] == [0, 0, 0]


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 9_000), st.integers(0, 9_000)), max_size=30
    )
)
@settings(deadline=None, max_examples=200)
def test_many_threads_in_one_go_give_what_one_by_one_gives(monkeypatch_many, rows):
    rows = sorted(rows, key=lambda r: (r[1], -r[2]))
    thread = np.array([r[0] for r in rows], np.int64)
    start = np.array([r[1] for r in rows], np.int64)
    end = start + np.array([r[2] for r in rows], np.int64)
    one_by_one = nest(thread, start, end)
    with monkeypatch_many():
        in_one_go = nest(thread, start, end)
    for one, other in zip(one_by_one, in_one_go, strict=True):
        assert one.tolist() == other.tolist()


@pytest.fixture(scope="module")
def monkeypatch_many():
    """A context in which two threads are many."""

    @contextmanager
    def few():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(nesting, "MANY_THREADS", 0)
            yield

    return few


def test_a_thread_for_each_of_many_events_takes_no_loop_over_threads():
    count = 200_000
    start = np.arange(count, dtype=np.int64)
    began = time.process_time()
    depth, parent, _ = nest(start.copy(), start, start + 5)
    assert time.process_time() - began < 30
    assert not depth.any()
    assert (parent == -1).all()
