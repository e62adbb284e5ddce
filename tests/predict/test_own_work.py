"""What the program's own Python costs, and what goes with it."""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.predict.calibrate import calibrated
from stepscope.predict.change import slower_host, with_input, without_gaps
from stepscope.predict.graph import INPUT, OPERATOR, PAUSE, REST
from stepscope.predict.own_work import COLD_NS, MOST_COLD, in_steps, python_gain, warm
from stepscope.predict.period import step_ns
from stepscope.predict.replay import replay
from stepscope.predict.simulate import simulate
from stepscope.predict.source import Setting
from stepscope.testing import TraceBuilder
from tests.predict.made import MS, US, read
from tests.predict.test_replay import cpu_only


def program(pause=5 * MS, work=10 * MS, optimizer=0):
    """Steps on the CPU: operators, an optimizer that pauses before its operator, and the program's own work."""
    trace = TraceBuilder()
    for number in range(5):
        with trace.step(number):
            trace.work("aten::linear", work)
            with trace.optimizer():
                trace.pause(optimizer)
                trace.work("aten::add_", 1 * MS)
            trace.pause(pause)
    return read(trace)


def length(graph):
    return step_ns(graph, simulate(graph))


def test_what_the_optimizer_takes_before_its_operators_is_not_the_programs_own():
    graph = replay(program(optimizer=800 * US)).graph
    assert in_steps(graph, PAUSE) == pytest.approx(5 * MS, abs=5 * US)
    assert in_steps(graph, REST).min() >= 800 * US


def test_the_program_gains_its_pauses_and_at_most_warm_caches():
    trace = program()
    base = replay(trace)
    now = length(base.graph)
    found = python_gain(trace, base, base)
    assert found is not None
    assert found.low * 0.999 <= now / (now - 5 * MS) <= found.high
    assert found.high >= now / (now - 5 * MS - COLD_NS) * 0.999
    assert found.high < 1.1 * found.low


def test_the_profilers_weight_lies_on_all_alike_or_on_operators_only():
    trace = program()
    recorded = replay(trace)
    setting = Setting(clean_step_ns=length(recorded.graph) - 2 * MS)
    alike = calibrated(recorded, setting)
    kept = calibrated(recorded, setting, pauses=False)
    assert length(alike.graph) == pytest.approx(length(kept.graph), rel=0.01)
    assert in_steps(kept.graph, PAUSE) == pytest.approx(5 * MS, abs=5 * US)
    assert in_steps(alike.graph, PAUSE).max() < 5 * MS
    found = python_gain(trace, alike, kept)
    only = python_gain(trace, alike, alike)
    assert found is not None
    assert only is not None
    assert found.low == pytest.approx(only.low, rel=0.02)
    assert found.high > 1.01 * only.high


def test_caches_matter_no_longer_than_the_interruption_nor_more_than_a_share():
    graph = without_gaps(replay(program()).graph, PAUSE)
    now = length(graph)
    long, short = (warm(graph, np.full(5, ns)) for ns in (50 * MS, 300 * US))
    assert length(long) == pytest.approx(now - COLD_NS, rel=0.002)
    assert length(short) == pytest.approx(now - 300 * US, rel=0.002)
    tiny = without_gaps(replay(program(work=10 * US)).graph, PAUSE)
    tiny = slower_host(tiny, 0.5)
    assert length(warm(tiny, np.full(5, 50 * MS))) == pytest.approx(
        length(tiny) * (1 - MOST_COLD), rel=0.01
    )


def test_short_pauses_may_be_the_programs_or_not():
    trace = TraceBuilder()
    for number in range(5):
        with trace.step(number):
            for _ in range(20):
                trace.work("aten::linear", 100 * US)
                trace.pause(100 * US)
    made = read(trace)
    base = replay(made)
    found = python_gain(made, base, base)
    assert found is not None
    assert found.low == 1
    assert found.high == pytest.approx(2, rel=0.1)


def test_a_wait_for_batches_can_be_given_any_length():
    graph = replay(cpu_only()).graph
    waits = in_steps(with_input(graph, 7 * MS), INPUT)
    assert waits.mean() == pytest.approx(7 * MS, rel=0.001)
    none = with_input(without_gaps(graph, INPUT), 1 * MS)
    assert in_steps(none, INPUT).mean() == pytest.approx(1 * MS)
    assert in_steps(none, OPERATOR).tolist() == in_steps(graph, OPERATOR).tolist()
