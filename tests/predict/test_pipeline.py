"""The input pipeline: pace of workers, and ceilings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stepscope.predict.calibrate import calibrated
from stepscope.predict.change import without_input
from stepscope.predict.own_work import COLD_NS
from stepscope.predict.period import step_ns
from stepscope.predict.pipeline import HANDOVER_NS, SHARED_CORE, Pipeline, pace
from stepscope.predict.replay import replay
from stepscope.predict.simulate import simulate
from stepscope.predict.source import CleanSteps, Setting, Source, source_of
from stepscope.testing import TraceBuilder
from tests.predict.made import MS, US, Run, read
from tests.predict.test_replay import cpu_only


@given(work=st.integers(1, 1000), step=st.integers(1, 1000), workers=st.integers(1, 16))
def test_even_batches_go_at_the_pace_of_the_slower_side(work, step, workers):
    found = pace(np.array([float(work)]), step, workers, 2)
    assert found == pytest.approx(max(step, work / workers), rel=0.15)


def test_prefetching_evens_out_slow_batches_but_not_a_slow_mean():
    work = np.array([10.0] * 15 + [150.0])
    shallow, deep = (pace(work, 25.0, 1, depth) for depth in (1, 12))
    assert shallow > 28
    assert deep == pytest.approx(25, rel=0.02)
    assert pace(work * 2, 25.0, 1, 12) > 36


def test_more_workers_are_never_slower_in_the_best_case():
    line = Pipeline(replay(Run(wait=40 * MS, workers=False).read()), Source(work_ns=(40 * MS,)))
    best = [line.row(workers).best.step_ns for workers in (1, 2, 4, 8)]
    assert best == sorted(best, reverse=True)
    assert all(line.row(n).worst.step_ns >= line.row(n).best.step_ns for n in (1, 2, 4, 8))


def test_the_needed_workers_follow_from_work_over_step():
    base = replay(Run(wait=90 * MS, workers=False, kernel=500 * US).read())
    assert Pipeline(base, Source(work_ns=(90 * MS,))).plan().workers == 11
    assert Pipeline(base, Source(work_ns=(90 * MS,), cores=4)).plan().workers == 4
    assert Pipeline(base, Source(work_ns=(1 * MS,))).plan().workers == 1


def test_waiting_for_storage_costs_training_nothing():
    base = replay(Run(wait=40 * MS, workers=False, kernel=5 * US, kernels=200).read())
    computing = Pipeline(base, Source(work_ns=(40 * MS,), cpu_frac=1.0)).row(8).worst.step_ns
    waiting = Pipeline(base, Source(work_ns=(40 * MS,), cpu_frac=0.0)).row(8).worst.step_ns
    free = Pipeline(base, Source(work_ns=(40 * MS,))).row(8).best.step_ns
    assert computing > 1.2 * waiting
    handed = free + HANDOVER_NS[1] - HANDOVER_NS[0]
    assert waiting == pytest.approx(handed + COLD_NS, rel=0.03)
    assert computing < SHARED_CORE * waiting * 1.01


def test_each_batch_is_handed_over_and_the_wait_for_it_leaves_caches_as_they_were():
    base = replay(cpu_only())
    kept = without_input(base.graph)
    free = step_ns(kept, simulate(kept))
    row = Pipeline(base, Source(work_ns=(3 * MS,), cpu_frac=0.0, cores=8, threads=1)).row(8)
    assert row.worst.step_ns == pytest.approx(free + HANDOVER_NS[1], rel=0.01)
    assert row.best.step_ns == pytest.approx(free + HANDOVER_NS[0] - COLD_NS, rel=0.01)
    hidden = replay(Run(wait=40 * MS, workers=False).read())
    row = Pipeline(hidden, Source(work_ns=(40 * MS,), cpu_frac=0.0)).row(8)
    assert row.worst.step_ns < row.best.step_ns + 100 * US


def test_cores_are_a_ceiling_when_the_model_runs_on_them_too():
    base = replay(cpu_only())
    row = Pipeline(base, Source(work_ns=(20 * MS,), cpu_frac=1.0, cores=2)).row(4)
    assert row.worst.step_ns >= (20 * MS + 2 * 2 * MS) / 2


def test_without_workers_the_wait_is_the_work():
    trace = Run(wait=40 * MS, workers=False, copy=1 * MS).read()
    source = source_of(trace, replay(trace).graph, Setting(cores=16))
    assert source is not None
    assert source.mean_ns == pytest.approx(40 * MS)
    assert source.per_step == 1
    assert source.batch_bytes == 8_000_000
    assert source.cores == 16


def test_with_workers_the_trace_does_not_tell_the_work_but_the_recorder_may():
    trace = Run(wait=40 * MS, workers=True).read()
    graph = replay(trace).graph
    assert source_of(trace, graph, Setting()) is None
    known = source_of(trace, graph, Setting(work_ns=(70 * MS, 90 * MS)))
    assert known is not None
    assert known.mean_ns == pytest.approx(80 * MS)


def test_workers_that_wait_for_storage_need_no_core_each():
    base = replay(Run(wait=80 * MS, workers=False).read())
    waiting = Pipeline(base, Source(work_ns=(80 * MS,), cores=2, cpu_frac=0.1))
    computing = Pipeline(base, Source(work_ns=(80 * MS,), cores=2, cpu_frac=1.0))
    assert computing.plan().workers == 2
    assert waiting.plan().workers > 2
    four = waiting.row(4).worst.step_ns
    assert four < computing.row(4).worst.step_ns


def demo(**more):
    """A step of 2 ms on the CPU for which 20 ms of making a batch are needed, on two cores."""
    return Pipeline(
        replay(cpu_only()), Source(work_ns=(20 * MS,), cpu_frac=1.0, cores=2, threads=1, **more)
    )


def test_the_best_number_is_the_fewest_workers_that_the_cores_reward():
    plan = demo().plan()
    assert plan.workers == 2
    assert plan.keep_up > 2
    assert plan.cores_ns == pytest.approx((plan.making_ns + plan.training_ns) / 2)


def test_each_epoch_begins_with_nothing_made_ahead():
    endless = demo().row(2)
    short = demo(epoch_batches=3).row(2)
    assert short.best.step_ns > endless.best.step_ns
    assert short.worst.step_ns > 1.15 * short.best.step_ns


def test_workers_that_end_with_each_epoch_cost_their_start():
    kept, anew = (demo(epoch_batches=8).row(2, restarts=restarts) for restarts in (False, True))
    assert anew.best.step_ns > 1.2 * kept.best.step_ns
    assert anew.worst.step_ns > kept.worst.step_ns
    assert demo().row(2, restarts=True) == demo().row(2)


@given(epoch=st.integers(1, 40), workers=st.integers(1, 6))
def test_an_epoch_takes_the_start_and_all_batches(epoch, workers):
    work, step, start = 100.0, 7.0, 30.0
    found = pace(np.array([work]), step, workers, 2, epoch, start)
    least = (start + work + step) / epoch
    assert found >= least - 1e-6
    assert found <= start / epoch + work + step
    if workers == 1:
        assert found == pytest.approx((start + epoch * work + step) / epoch)


def test_other_programs_on_the_cores_leave_less_to_gain_but_are_no_reason_for_more_workers():
    alone, crowded = demo(), demo(queued_frac=0.5)
    assert crowded.row(2).best.step_ns > alone.row(2).best.step_ns
    assert crowded.row(2).worst.step_ns > 1.5 * alone.row(2).worst.step_ns
    assert crowded.plan().workers == alone.plan().workers


def test_the_number_that_the_run_has_gains_nothing():
    base = replay(cpu_only())
    now = step_ns(base.graph, base.times)
    line = Pipeline(
        base, Source(work_ns=(round(now),), cpu_frac=1.0, cores=2, threads=1, workers=1)
    )
    row = line.row(1)
    assert row.best.step_ns <= now <= row.worst.step_ns * 1.01


def test_with_bunches_of_batches_the_mean_over_many_steps_counts():
    clean = CleanSteps(lengths_ns=(2 * MS, 38 * MS) * 20, waits_ns=(0, 36 * MS) * 20)
    base = calibrated(replay(cpu_only()), Setting(clean=clean, clean_step_ns=2 * MS))
    assert step_ns(base.graph, base.times) == pytest.approx(20 * MS, rel=0.03)
    free = without_input(base.graph)
    assert step_ns(free, simulate(free)) == pytest.approx(2 * MS, rel=0.2)
    assert clean.error_frac == pytest.approx(0.0, abs=1e-9)


def test_where_the_wait_is_no_more_than_a_hand_over_other_workers_gain_nothing():
    trace = TraceBuilder()
    for number in range(5):
        with trace.step(number):
            trace.loader_wait(2 * MS)
            trace.work("aten::linear", 13 * MS)
    base = replay(read(trace))
    now = step_ns(base.graph, base.times)
    without = Source(work_ns=(30 * MS,), cpu_frac=0.1, cores=8, threads=1)
    assert Pipeline(base, replace(without, workers=4)).row(8).best.step_ns >= now * 0.999
    assert Pipeline(base, without).row(8).best.step_ns < now * 0.92


@pytest.mark.parametrize("steps", [3, 10, 11, 40])
def test_few_steps_tell_of_their_spread_too(steps):
    lengths = tuple((20 + number * 7 % 5) * MS for number in range(steps))
    found = CleanSteps(lengths_ns=lengths, waits_ns=lengths).error_frac
    assert 0 < found < 0.06


def test_where_hardly_anything_waits_the_median_counts():
    clean = CleanSteps(lengths_ns=(20 * MS,) * 9 + (900 * MS,), waits_ns=(0,) * 10)
    base = replay(cpu_only())
    now = step_ns(base.graph, base.times)
    kept = calibrated(base, Setting(clean=clean, clean_step_ns=now))
    assert step_ns(kept.graph, kept.times) == pytest.approx(now)


def test_batches_that_do_not_fit_into_shared_memory_are_a_ceiling():
    base = replay(Run(wait=90 * MS, workers=False, kernel=500 * US).read())
    plan = Pipeline(
        base, Source(work_ns=(90 * MS,), cores=32, batch_bytes=4_000_000, shared_bytes=64_000_000)
    ).plan()
    assert (plan.fit, plan.workers) == (2, 2)
    assert plan.keep_up == 11
    tiny = Source(work_ns=(90 * MS,), cores=32, batch_bytes=400_000_000, shared_bytes=64_000_000)
    assert Pipeline(base, tiny).plan().workers == 1
    roomy = Source(work_ns=(90 * MS,), cores=32, batch_bytes=4_000_000, shared_bytes=10**10)
    assert Pipeline(base, roomy).plan().workers > 2


def test_the_memory_of_the_allocation_is_a_ceiling():
    """The run has 2 workers of 300 MB each and 12 MB of batches, and 700 MB are left: two more fit."""
    base = replay(Run(wait=90 * MS, kernel=500 * US).read())
    short = Source(
        work_ns=(90 * MS,),
        cores=32,
        workers=2,
        batch_bytes=4_000_000,
        worker_bytes=300_000_000,
        left_bytes=700_000_000,
    )
    plan = Pipeline(base, short).plan()
    assert (plan.room, plan.workers, plan.keep_up) == (4, 4, 11)
    assert (plan.each_bytes, plan.left_bytes) == (312_000_000, 700_000_000)
    none = Pipeline(base, replace(short, left_bytes=-1)).plan()
    assert (none.room, none.workers) == (2, 2)
    for unknown in (
        replace(short, worker_bytes=None),
        replace(short, left_bytes=None),
        replace(short, workers=0),
    ):
        plan = Pipeline(base, unknown).plan()
        assert (plan.room, plan.each_bytes, plan.left_bytes) == (None, None, None)
        assert plan.workers > 4
