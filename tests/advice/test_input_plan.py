"""The arithmetic behind a number of workers, in words."""

from __future__ import annotations

from stepscope.advice.input_plan import arithmetic_of, evidence_of_plan
from stepscope.predict import Plan

MS = 1_000_000


def test_without_a_ceiling_the_ratio_decides():
    text = arithmetic_of(Plan(5, 40 * MS, 10 * MS, 5, None, None, None))
    assert text == (
        "One process makes a batch in 40.0 ms, training without waiting takes 10.0 ms: 4.0 workers would just keep "
        "up, 5 workers with a quarter in reserve."
    )


def test_cores_that_all_of_them_share_are_a_ceiling():
    text = arithmetic_of(Plan(2, 64 * MS, 10 * MS, 8, 2, 0.99, 37 * MS))
    assert "computes 99% of its time, and the 2 cores shared" in text
    assert "allow no step under 37.0 ms: more than 2 workers would only take turns" in text
    one = arithmetic_of(Plan(1, 64 * MS, 10 * MS, 8, 1, None, 74 * MS))
    assert "the one core shared by workers and training allows no step under 74.0 ms" in one


def test_shared_memory_is_a_ceiling():
    text = arithmetic_of(Plan(2, 64 * MS, 10 * MS, 8, 32, 0.9, 5 * MS, fit=2))
    assert "no more than 2 workers fit into half of the shared memory" in text


def test_the_memory_of_the_job_is_a_ceiling():
    plan = Plan(
        4, 90 * MS, 10 * MS, 12, 32, 0.9, 5 * MS, room=4, each_bytes=312 * MS, left_bytes=700 * MS
    )
    text = arithmetic_of(plan)
    assert "12 workers with a quarter in reserve. But each takes 312 MB of its own" in text
    assert "had 700 MB left for more: no more than 4 workers fit." in text
    assert evidence_of_plan(plan)[-1].value == 312 * MS


def test_without_a_plan_nothing_is_said():
    assert arithmetic_of(None) == ""
    assert evidence_of_plan(None) == ()
    assert [one.value for one in evidence_of_plan(Plan(2, 64e6, 10e6, 8, 2, 1.0, 37e6))] == [
        64.0,
        10.0,
        2,
    ]
