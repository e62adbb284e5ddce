"""A replay with one thing changed gives what was made with that thing changed.

Every pair is made by the TraceBuilder, which queues work by itself and knows nothing of the replay.
"""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.predict import change
from stepscope.predict.graph import PAUSE, REST
from stepscope.predict.period import step_ns
from stepscope.predict.replay import replay
from stepscope.predict.simulate import simulate
from tests.predict.made import MS, PLAIN, US, Run


def predicted(run, changed):
    graph = changed(replay(run.read()).graph)
    return step_ns(graph, simulate(graph))


def made(run):
    done = replay(run.read())
    return step_ns(done.graph, done.times)


def waiting_removed(graph):
    return change.without_waiting(graph, change.synchronisations(graph))


PAIRS = {
    "input, host bound": (
        Run(wait=30 * MS, kernel=5 * US, kernels=100),
        Run(wait=0, kernel=5 * US, kernels=100),
        change.without_input,
    ),
    "input, device bound": (Run(wait=30 * MS), Run(wait=0), change.without_input),
    "input hidden already": (
        Run(wait=5 * MS, kernel=3 * MS),
        Run(wait=0, kernel=3 * MS),
        change.without_input,
    ),
    "kernels twice as fast": (
        Run(kernel=2 * MS),
        Run(kernel=1 * MS),
        lambda graph: change.faster(graph, graph.sort == 0, 2.0),
    ),
    "kernels faster than the host": (
        Run(kernel=2 * MS, name=PLAIN),
        Run(kernel=20 * US, name=PLAIN),
        lambda graph: change.faster(graph, graph.sort == 0, 100.0),
    ),
    "python gone": (
        Run(python=200 * US, kernel=50 * US),
        Run(python=0, kernel=50 * US),
        lambda graph: change.without_gaps(graph, PAUSE, REST),
    ),
    "long pauses gone, short ones stay": (
        Run(python=2 * MS, kernel=50 * US),
        Run(python=0, kernel=50 * US),
        lambda graph: change.without_gaps(graph, PAUSE),
    ),
    "short pauses are no work of the program": (
        Run(python=50 * US, kernel=50 * US),
        Run(python=50 * US, kernel=50 * US),
        lambda graph: change.without_gaps(graph, PAUSE),
    ),
    "communication hidden": (
        Run(collective=3 * MS),
        Run(collective=3 * MS, joined=False),
        lambda graph: change.communication_hidden(graph, last_stays=False),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_change_is_predicted_within_three_per_cent(name):
    before, after, changed = PAIRS[name]
    assert predicted(before, changed) == pytest.approx(made(after), rel=0.03)


def test_reading_back_less_lets_the_host_run_ahead():
    run = Run(item=True, kernel=300 * US, operator=150 * US)
    assert predicted(run, waiting_removed) == pytest.approx(
        made(Run(item=False, kernel=300 * US, operator=150 * US)), rel=0.03
    )
    assert made(run) > 1.03 * predicted(run, waiting_removed)


def test_pinned_copies_block_nobody_and_overlapped_ones_delay_nobody():
    run = Run(copy=10 * MS, pinned=False, kernel=500 * US, operator=450 * US)
    blocked = made(run)
    pinned = predicted(run, change.copies_pinned)
    overlapped = predicted(run, change.copies_overlapped)
    in_stream = made(Run(copy=10 * MS, kernel=500 * US, operator=450 * US))
    assert pinned == pytest.approx(in_stream, rel=0.03)
    assert overlapped < pinned < blocked
    apart = made(Run(copy=10 * MS, copy_stream=21, kernel=500 * US, operator=450 * US))
    assert overlapped == pytest.approx(apart, rel=0.03)


def test_a_copy_that_takes_longer_than_the_rest_stays_the_limit():
    run = Run(copy=60 * MS, pinned=False)
    assert predicted(run, change.copies_overlapped) >= 60 * MS


def test_free_launches_leave_the_device_as_the_limit():
    run = Run(kernel=20 * US, kernels=50, operator=100 * US, python=50 * US)
    captured = predicted(run, lambda graph: change.launches_free(graph, python=True))
    compiled = predicted(run, lambda graph: change.launches_free(graph, python=False))
    work = 2 * 50 * 20 * US + 20 * US
    assert captured == pytest.approx(work, rel=0.25)
    assert captured <= compiled < made(run)


def test_the_last_collective_of_each_step_can_stay():
    run = Run(collective=3 * MS)
    some = predicted(run, lambda graph: change.communication_hidden(graph, last_stays=True))
    whole = predicted(run, lambda graph: change.communication_hidden(graph, last_stays=False))
    assert whole <= some <= made(run)


def test_a_slower_host_takes_longer_and_waiting_does_not():
    graph = replay(Run(kernel=5 * US, kernels=100).read()).graph
    slow = change.slower_host(graph, 1.5)
    assert np.array_equal(slow.gaps[:, 0], graph.gaps[:, 0])
    assert slow.gaps[:, 2].sum() == pytest.approx(1.5 * graph.gaps[:, 2].sum(), rel=1e-3)


def test_a_copy_is_no_synchronisation():
    graph = replay(Run(copy=5 * MS, pinned=False).read()).graph
    assert change.blocking_copies(graph).sum() == 6
    assert not change.synchronisations(graph).any()
