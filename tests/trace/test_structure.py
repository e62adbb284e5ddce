"""Ancestors, the training thread, and the stretches that figures are taken over."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepscope.trace import call_names
from stepscope.trace.ancestry import nearest
from stepscope.trace.scope import scope_of
from stepscope.trace.training_thread import Thread, training_thread
from tests.analysis.made import US, host_table, note, op, trace


def test_nearest_skips_what_is_not_wanted():
    rows = host_table([op("a", 0, 100), note("b", 10, 90), note("c", 20, 80), op("d", 30, 70)])
    found = nearest(rows, call_names.of_kind(rows, "operator"))
    assert found.tolist() == [-1, 0, 0, 0]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 20), st.booleans()), max_size=20))
def test_nearest_agrees_with_climbing(rows):
    frame = host_table([op(f"{wanted}", s, s + length) for s, length, wanted in rows])
    is_wanted = (frame["name"] == "True").to_numpy()
    found = nearest(frame, is_wanted)
    for row, parent in enumerate(frame["parent"].to_list()):
        at = parent
        while at is not None and not is_wanted[at]:
            at = frame["parent"][at]
        assert found[row] == (-1 if at is None else at)


def test_the_thread_with_steps_trains_even_when_others_work_more():
    rows = host_table([note("ProfilerStep#1", 0, 9, tid=5), op("aten::mm", 0, 90, tid=7)])
    assert training_thread(rows) == Thread(1, 5)


def test_the_optimizers_thread_trains_without_steps():
    rows = host_table([note("Optimizer.step#SGD.step", 0, 9, tid=5), op("aten::mm", 0, 90, tid=7)])
    assert training_thread(rows) == Thread(1, 5)


def test_backward_work_does_not_make_a_training_thread():
    rows = host_table(
        [
            op("aten::mm", 0, 10, tid=1),
            op("autograd::engine::evaluate_function: MmBackward0", 10, 90, tid=2),
            op("aten::mm", 20, 80, tid=2, forward_thread=1),
        ]
    )
    assert training_thread(rows) == Thread(1, 1)


def test_no_thread_without_events():
    assert training_thread(host_table([])) is None


def test_scope_is_the_steps_else_the_windows():
    steps = scope_of(trace(steps=[(0, 10), (10, 30)], startup=[0]))
    assert (steps.are_steps, steps.lengths_ns.tolist()) == (True, [10 * US, 20 * US])
    assert steps.is_steady.tolist() == [False, True]
    windows = scope_of(trace(windows=[(0, 10), (50, 70)]))
    assert not windows.are_steps
    assert windows.bounds.tolist() == [[0, 10 * US], [50 * US, 70 * US]]
    assert windows.is_steady.all()
    assert np.array_equal(windows.set, windows.bounds)
