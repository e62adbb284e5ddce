"""The size of a trace: estimated from a first short window before the one that counts, and judged afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stepscope.record.expectation import Expectation
from stepscope.record.notices import Notices
from stepscope.record.plan import MOST_CLEAN, Plan
from stepscope.record.schedule import Action, Schedule
from stepscope.record.summary import summary_of
from stepscope.schema.run_folder import WindowRecord
from tests.record.running import profiled

MS = 1_000_000
WINDOW = WindowRecord(
    trace="trace-1.pt.trace.json.gz", kind="steady", first_step=9, steps_ns=(MS,) * 3, prepare_ns=0, start_ns=0,
    stop_ns=0, trace_bytes=1_400_000, expected_bytes=1_500_000, wanted_steps=5,
)  # fmt: skip


def actions(schedule, steps):
    return [schedule.after_step(10 * MS) for _ in range(steps)]


def test_with_a_budget_a_first_short_window_is_taken_whatever_the_user_asks_for():
    schedule = Schedule(Plan(warmup=0, clean=2, active=4, max_megabytes=1))
    assert actions(schedule, 5) == [Action.NOTHING] * 2 + [
        Action.OPEN_EARLY,
        Action.NOTHING,
        Action.CLOSE,
    ]
    assert schedule.expected.size_bytes is None
    schedule.bytes_per_step = 400_000.0
    assert actions(schedule, 3) == [Action.NOTHING] * 2 + [Action.OPEN]
    expected = schedule.expected
    assert expected == Expectation(ns=2 * 10 * MS, wanted_steps=4, size_bytes=800_000)
    assert actions(schedule, 2) == [Action.NOTHING, Action.CLOSE]


def test_the_window_waits_for_the_size_while_it_is_being_found_out():
    schedule = Schedule(Plan(warmup=0, clean=2, active=4, max_megabytes=1))
    actions(schedule, 5)
    schedule.is_size_pending = True
    assert set(actions(schedule, MOST_CLEAN + 50)) == {Action.NOTHING}
    assert len(schedule.clean_ns) <= MOST_CLEAN + 1
    schedule.is_size_pending = False
    assert schedule.after_step(10 * MS) is Action.OPEN
    # The first trace could not be written, so that nobody knows.
    assert (schedule.expected.size_bytes, schedule.steps_left) == (None, 4)


def test_without_a_budget_nothing_is_waited_for():
    schedule = Schedule(Plan(warmup=0, clean=2, active=4))
    schedule.is_size_pending = True
    assert Action.OPEN in actions(schedule, 3)


def concluded(window, budget):
    notices = Notices()
    notices.conclude(
        has_torch=True,
        source="optimizer",
        steps_seen=20,
        windows=(window,),
        settled=True,
        budget_bytes=budget,
    )
    return [(notice.code, notice.text) for notice in notices.all()]


def test_what_the_budget_has_changed_is_said_with_the_estimate_and_the_truth():
    ((code, text),) = concluded(WINDOW, 2e6)
    assert code == "trace-budget"
    assert text == (
        "3 steps were recorded instead of 5, because more were not expected to fit into 2.00 MB: "
        "1.50 MB were expected and the trace takes 1.40 MB"
    )


@pytest.mark.parametrize(
    ("changes", "budget"),
    [({"wanted_steps": 3}, 2e6), ({}, None), ({"cut": "an evaluation began"}, 2e6)],
    ids=["it fits", "no budget", "something else cut it"],
)
def test_nothing_is_said_where_the_budget_has_changed_nothing(changes, budget):
    assert "trace-budget" not in dict(concluded(replace(WINDOW, **changes), budget))


def test_a_step_that_is_too_large_alone_is_recorded_and_that_is_said():
    one = replace(WINDOW, steps_ns=(MS,))
    assert "a single step was expected to take 1.50 MB" in dict(concluded(one, 1e6))["trace-budget"]


def test_a_budget_that_could_not_be_applied_is_said():
    unknown = replace(WINDOW, expected_bytes=None)
    assert set(dict(concluded(unknown, 2e6))) == {"trace-size-unknown"}


@pytest.mark.slow
def test_a_real_window_gets_as_many_steps_as_fit(tmp_path):
    options = ("--warmup", "1", "--clean", "2", "--active", "12", "--max-megabytes", "0.02")
    ended = profiled(tmp_path / "run", "adversaries.py", "6000", options=options)
    assert ended.status == 0, ended.stderr
    window = ended.recording.window
    assert window.kind == "steady"
    assert window.wanted_steps == 12
    assert 1 < len(window.steps_ns) < 12
    assert window.expected_bytes <= 20_000
    assert 0.7 < window.trace_bytes / window.expected_bytes < 1.3
    assert "trace-budget" in ended.codes
    said = " ".join(summary_of(ended.recording, tmp_path))
    assert "were expected" in said


@pytest.mark.slow
def test_ten_thousand_steps_leave_a_small_folder(tmp_path):
    ended = profiled(tmp_path / "run", "many_steps.py")
    assert ended.status == 0, ended.stderr
    assert ended.recording.steps_seen >= 9_998
    size = sum(path.stat().st_size for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert size < 50_000_000
    # Beside the trace a step takes some bytes in each of a few tables.
    rows = size - ended.recording.window.trace_bytes
    assert rows < 10_000 * 300
