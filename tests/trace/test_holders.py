"""Who asked for memory that stays."""

from __future__ import annotations

import polars as pl
import pytest

from stepscope.analysis import memory
from stepscope.analysis.results import run_all
from stepscope.testing import A100, Setup, TraceBuilder
from stepscope.trace.holders import holders_of
from tests.predict.made import read

MB = 1 << 20


def leaking(*, steps=6, kept=2 * MB, outside=False):
    """Each step takes and gives back 8 MB, and keeps some of what a product inside a layer asked for."""
    trace = TraceBuilder(Setup(gpus=(A100,)))
    for number in range(steps):
        with trace.step(number):
            with trace.op("aten::linear"), trace.op("aten::addmm"):
                trace.allocate(8 * MB, device=0)
                if not outside:
                    trace.allocate(kept, device=0)
                trace.launch("ampere_sgemm_128x64_tn", 1_000_000)
            with trace.op("aten::relu"):
                trace.allocate(4 * MB, device=0)
            if outside:
                trace.allocate(kept, device=0)
            trace.allocate(-4 * MB, device=0)
            trace.allocate(-8 * MB, device=0)
            trace.item()
    return read(trace)


def held(trace):
    (found,) = memory.run(trace)
    return found


def test_the_outermost_operator_around_what_stays_is_named():
    found = held(leaking())
    assert found.growth_bytes_per_step == pytest.approx(2 * MB)
    (one,) = found.holders
    assert (one.operator, one.bytes_per_step) == ("aten::linear", 2 * MB)
    # The last step's blocks may be given back in the one behind it.
    assert one.blocks == int(run_all(leaking()).partition.is_steady.sum()) - 1


def test_memory_asked_for_outside_of_operators_has_no_name():
    (one,) = held(leaking(outside=True)).holders
    assert one.operator == ""


def test_memory_that_does_not_grow_has_no_holders():
    trace = leaking(kept=0)
    assert held(trace).holders is None


def test_without_addresses_nobody_is_named():
    trace = leaking()
    events = trace.memory.with_columns(address=pl.lit(None, pl.Int64))
    assert holders_of(trace, events, trace.steps.select("start_ns", "end_ns").to_numpy()) is None


def test_a_block_that_is_given_back_in_a_later_step_does_not_stay():
    trace = TraceBuilder(Setup(gpus=(A100,)))
    for number in range(6):
        with trace.step(number):
            with trace.op("aten::linear"):
                trace.allocate(2 * MB, device=0)
                trace.allocate((1 + number) * MB, device=0)
                trace.launch("ampere_sgemm_128x64_tn", 1_000_000)
            if number:
                trace.allocate(-number * MB, device=0)
            trace.item()
    (one,) = held(read(trace)).holders
    assert one.bytes_per_step == 2 * MB
