"""What a faster file system gains: only the time in which making batches waited."""

from __future__ import annotations

import pytest

from stepscope.predict import Setting, Staging
from stepscope.predict.pipeline import Pipeline
from stepscope.predict.replay import replay
from stepscope.predict.source import Source, source_of
from stepscope.predict.staging import with_less_waiting
from tests.predict.made import MS, Run
from tests.predict.test_replay import cpu_only

STAGING = Staging(
    source="/network",
    target="/fast",
    source_ns=2.0 * MS,
    target_ns=0.2 * MS,
    source_many_ns=1.0 * MS,
    target_many_ns=0.5 * MS,
    readers=8,
    mean_bytes=1e5,
    source_cached_frac=0.0,
    copy_bytes_per_s=1e8,
)


def test_the_time_that_waits_shrinks_as_reading_does():
    base = replay(cpu_only())
    ways = with_less_waiting(base, Source(work_ns=(3 * MS,), cpu_frac=0.5), STAGING.ratios)
    best, worst = (one.step_ns for one in ways)
    # A step is 3 ms of loading, half of which computes, and 2 ms of training.
    assert best == pytest.approx(2 * MS + 1.5 * MS + 0.15 * MS, rel=0.02)
    assert worst == pytest.approx(2 * MS + 1.5 * MS + 0.75 * MS, rel=0.02)


def test_what_computes_gains_nothing_and_what_is_not_known_is_not_predicted():
    base = replay(cpu_only())
    ways = with_less_waiting(base, Source(work_ns=(3 * MS,), cpu_frac=1.0), STAGING.ratios)
    assert {one.step_ns for one in ways} == {ways[0].step_ns}
    assert ways[0].step_ns == pytest.approx(5 * MS, rel=0.02)
    assert with_less_waiting(base, Source(work_ns=(3 * MS,)), STAGING.ratios) == []


def test_workers_that_wait_for_storage_deliver_sooner():
    base = replay(Run(wait=30 * MS, workers=True).read())
    source = Source(work_ns=(80 * MS,), cpu_frac=0.1, cores=8, workers=2)
    now = Pipeline(base, source).row(2).middle_ns
    assert all(one.step_ns < 0.9 * now for one in with_less_waiting(base, source, STAGING.ratios))


def test_a_slower_place_never_gains():
    slower = Staging(
        **{
            **{name: getattr(STAGING, name) for name in STAGING.__struct_fields__},
            "target_ns": 9.0 * MS,
            "target_many_ns": 9.0 * MS,
        }
    )
    assert slower.ratios == (1.0, 1.0)


def test_storage_is_a_ceiling_however_many_workers_there_are():
    trace = Run(wait=30 * MS, workers=True).read()
    base = replay(trace)
    known = Setting(work_ns=(80 * MS,), cpu_frac=0.1, cores=64, opened=32.0, staging=STAGING)
    source = source_of(trace, base.graph, known)
    assert source is not None
    assert source.storage_ns == pytest.approx(32 * MS)
    assert Pipeline(base, source).row(32).worst.step_ns >= 32 * MS
    free = source_of(trace, base.graph, Setting(work_ns=(80 * MS,), cpu_frac=0.1, cores=64))
    assert free is not None
    assert free.storage_ns == 0
