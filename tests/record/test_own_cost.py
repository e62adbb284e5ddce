"""What stepscope says that it took itself."""

from __future__ import annotations

import pytest

from stepscope.record.guard import Guard
from stepscope.record.loader import meter as meters
from stepscope.record.loader.meter import COST_NS, FIRST_BATCHES, MOST_PASSED, BatchMeter
from stepscope.record.own_cost import CALLS_A_BATCH, CALLS_A_STEP, OwnCost
from stepscope.record.voice import Voice
from stepscope.schema.loader_rows import load_records


def test_calls_that_are_too_short_to_be_timed_are_estimated():
    cost = OwnCost()
    cost.ns = 1_000
    assert cost.total_ns(steps=10, batches=20, others_ns=500) == 1_500
    cost.calibrate(Guard(Voice()))
    called = CALLS_A_STEP * 10 + CALLS_A_BATCH * 20
    assert cost.total_ns(steps=10, batches=20, others_ns=500) == 1_500 + int(called * cost._call_ns)
    assert cost._call_ns > 0


class Clock:
    """Stands for both clocks: each look costs one microsecond, and a batch takes as long as it is told."""

    def __init__(self, monkeypatch):
        self.now = 0
        monkeypatch.setattr(meters, "perf_counter_ns", self)
        monkeypatch.setattr(meters, "thread_time_ns", self)

    def __call__(self):
        self.now += 1_000
        return self.now


def made(meter, clock, batch_ns, count):
    """Which of so many batches are timed."""
    timed = []
    for _ in range(count):
        timed.append(meter.begin(0))
        clock.now += batch_ns
        if timed[-1]:
            meter.end(True)
    return timed


@pytest.mark.parametrize(
    ("worker", "batch_ns", "passed"),
    [
        (-1, 100_000_000, 0),
        (-1, 4_000_000, 2),
        (-1, 10_000, MOST_PASSED),
        (0, 4_000_000, 0),
        (0, 700_000, 2),
        (0, 10_000, MOST_PASSED),
    ],
)
def test_small_batches_are_not_all_timed(tmp_path, monkeypatch, worker, batch_ns, passed):
    clock = Clock(monkeypatch)
    meter = BatchMeter(tmp_path, worker)
    assert all(made(meter, clock, batch_ns, FIRST_BATCHES))
    later = made(meter, clock, batch_ns, 3 * (passed + 1))
    assert later == [True, *[False] * passed] * 3
    assert meter.passed == 3 * passed
    # Between two that are timed lies enough time for what timing takes.
    most = meters.MOST_COST_IN_TRAINING if worker < 0 else meters.MOST_COST
    assert passed == MOST_PASSED or most * batch_ns * (passed + 1) >= COST_NS
    meter.close()


def test_what_others_have_read_is_not_a_batchs(tmp_path, monkeypatch):
    clock = Clock(monkeypatch)
    meter = BatchMeter(tmp_path, -1)

    class Reads:
        at = 0

        def now(self):
            return Reads.at, 0

        def close(self):
            pass

    meter._reads, meter._last_read = Reads(), (0, 0)  # type: ignore[assignment]
    for _ in range(FIRST_BATCHES + 4 * (MOST_PASSED + 1)):
        timed = meter.begin(0)
        Reads.at += 100
        clock.now += 10_000
        if timed:
            meter.end(True)
    meter.close()
    assert {row.read_bytes for row in load_records(tmp_path).batches} == {100}


def test_what_timing_takes_is_counted(tmp_path, monkeypatch):
    clock = Clock(monkeypatch)
    meter = BatchMeter(tmp_path, 0)
    made(meter, clock, 5_000_000, 10)
    # Two looks at the clock before a batch and some after it, none of the batch itself.
    assert 10 * 3_000 <= meter.own_ns <= 10 * 10_000
    meter.close()


def test_packing_of_batches_that_are_passed_over_is_forgotten(tmp_path):
    meter = BatchMeter(tmp_path, 1)
    meter.begin(0)
    meter.numbered(0)
    meter.end(True)
    for number in range(meters.MOST_SENT + 100):
        meter.sent(number, 1, 1)
    meter.flush()
    assert len(meter._sent) <= meters.MOST_SENT
    meter.close()
