"""What a change leaves behind: the speed of a link, a last bucket, and no range narrower than is honest."""

from __future__ import annotations

import pytest

from stepscope.analysis.results import run_all
from stepscope.predict import gains
from stepscope.predict.buckets import in_buckets
from stepscope.predict.graph import COMMUNICATION
from stepscope.predict.link import USUAL_BYTES_PER_NS, copies_at_link_speed
from stepscope.predict.replay import replay
from stepscope.predict.whatif import LEAST_WIDTH
from stepscope.testing import A100, Setup, TraceBuilder
from tests.predict.made import MATMUL, MS, Run, read


def gains_of(trace):
    return gains(trace, run_all(trace))


def copied(*copies):
    """One step with copies of (bytes, ns, pinned)."""
    trace = TraceBuilder()
    with trace.step(0):
        for count, ns, pinned in copies:
            trace.copy("HtoD", count, ns, pinned=pinned)
    return read(trace)


def lengths(trace):
    return copies_at_link_speed(trace, replay(trace).graph).length.tolist()


def test_pageable_copies_become_as_fast_as_a_usual_link():
    assert lengths(copied((20_000_000, 6 * MS, False))) == [20_000_000 / USUAL_BYTES_PER_NS]


def test_or_as_fast_as_the_pinned_copies_of_the_trace():
    assert lengths(copied((20_000_000, 6 * MS, False), (25_000_000, 1 * MS, True))) == [
        20_000_000 / 25,
        1 * MS,
    ]


def test_small_pinned_copies_tell_no_bandwidth_and_no_copy_gets_slower():
    trace = copied((20_000_000, 1 * MS, False), (8, 1 * MS, True))
    assert lengths(trace) == [1 * MS, 1 * MS]


def sent(elements, compute=30 * MS):
    """Two ranks' worth of one message behind the compute of a step."""
    trace = TraceBuilder(Setup(rank=0, world_size=2, gpus=(A100,)))
    for number in range(4):
        with trace.step(number):
            with trace.op("aten::linear"):
                trace.launch(MATMUL, compute)
            trace.collective("allreduce", elements, 8 * MS)
            trace.wait_for_communication()
            trace.synchronize()
    return read(trace)


@pytest.mark.parametrize(
    ("elements", "compute", "left"),
    [
        (4 * 25 * 1024 * 1024 // 4, 30 * MS, 2 * MS),
        (1_000, 30 * MS, 8 * MS),
        (4 * 25 * 1024 * 1024 // 4, 4 * MS, 6 * MS),
    ],
)
def test_of_a_large_message_the_last_bucket_stays(elements, compute, left):
    trace = sent(elements, compute)
    graph = replay(trace).graph
    made = in_buckets(trace, graph)
    assert made.length[graph.sort == COMMUNICATION].tolist() == [left] * 4
    assert (made.length == graph.length)[graph.sort != COMMUNICATION].all()


def test_half_the_bytes_help_where_nothing_can_be_hidden():
    found = gains_of(sent(1_000, 1 * MS)).communication
    assert found.low < 1.03
    assert found.high > 9 / 5.5


def test_no_range_is_narrower_than_the_change_itself_may_cost():
    found = gains_of(Run(item=True, python=100_000, kernel=300_000, operator=150_000).read()).sync
    assert found.high / found.low == pytest.approx(LEAST_WIDTH, rel=0.02)
    assert found.low > 1.02
    assert type(found.low) is float


def test_nothing_to_gain_stays_nothing():
    found = gains_of(Run(kernel=3 * MS, item=True).read()).sync
    assert found.high < 1.02


def test_where_memory_is_given_back_synchronisations_are_not_all_that_waits():
    def made(calls):
        trace = TraceBuilder()
        for number in range(4):
            with trace.step(number):
                for _ in range(calls):
                    trace.call("cudaFree", 1 * MS)
                with trace.op("aten::linear"):
                    trace.launch(MATMUL, 5 * MS)
                trace.item()
        return gains_of(read(trace)).sync

    assert made(0) is not None
    assert made(1) is None
