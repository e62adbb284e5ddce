"""Of a long trace a typical stretch of steps is replayed."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from msgspec.structs import replace

from stepscope.analysis.results import run_all
from stepscope.predict import gains, together_gain
from stepscope.predict.excerpt import LEAST_STEPS, excerpt
from stepscope.testing import TraceBuilder
from stepscope.trace.scope import scope_of
from tests.predict.made import MATMUL, MS, Run, read


def uneven():
    """Thirty steps: slow ones first, then fast ones, then some of middle length."""
    trace = TraceBuilder()
    for number in range(30):
        with trace.step(number):
            with trace.op("aten::linear"):
                trace.launch(MATMUL, (5 if number < 10 else 3 if number < 20 else 4) * MS)
            trace.synchronize()
    return read(trace)


def test_a_short_trace_is_replayed_whole():
    trace = Run().read()
    part = excerpt(trace)
    assert part.trace is trace
    assert part.kept.all()


def test_of_a_long_one_the_stretch_of_mean_length_is_taken():
    trace = uneven()
    part = excerpt(trace, most=10)
    assert len(part.trace.steps) == LEAST_STEPS
    lengths, mine = (scope_of(one).lengths_ns for one in (trace, part.trace))
    assert mine.mean() == pytest.approx(lengths.mean(), rel=0.05)
    assert part.kept.sum() == len(part.trace.device) == LEAST_STEPS


def test_a_window_without_steps_stays_whole():
    trace = TraceBuilder()
    for _ in range(20):
        with trace.op("aten::linear"):
            trace.launch(MATMUL, 1 * MS)
    whole = read(trace)
    assert excerpt(whole, most=5).trace is whole


def test_the_gain_of_a_stretch_is_that_of_the_whole(monkeypatch):
    trace = Run(steps=24, wait=30 * MS, collective=1 * MS).read()
    results = run_all(trace)
    shortest = np.full(int(trace.device["is_communication"].sum()), MS // 2)
    whole = gains(trace, results)
    whole = replace(whole, together=together_gain(trace, shortest))
    module = import_module("stepscope.predict.gains")
    monkeypatch.setattr(module, "excerpt", lambda one: excerpt(one, most=10))
    part = gains(trace, results)
    part = replace(part, together=together_gain(trace, shortest))
    for name in ("input", "communication", "together"):
        assert getattr(part, name).low == pytest.approx(getattr(whole, name).low, rel=0.02)
