import itertools

import pytest

from stepscope.record.plan import PATIENCE_STEPS, Plan
from stepscope.record.schedule import Action, Schedule
from stepscope.units import NS_PER_S

MS = 1_000_000


def played(plan, durations, *, warms_profiler=False):
    """The kind of each step, a letter each (w, c, p, l), and the actions after steps."""
    schedule = Schedule(plan)
    schedule.warms_profiler = warms_profiler
    kinds, actions = "", {}
    for number, duration in enumerate(durations):
        kinds += schedule.kind[0]
        action = schedule.after_step(duration)
        if action is not Action.NOTHING:
            actions[number] = action
    return schedule, kinds, actions


def test_six_steps_are_enough_for_an_early_window():
    # The first of the six is start-up and never reaches the schedule.
    _, kinds, actions = played(Plan(), [10 * MS] * 5)
    assert kinds == "wwwpp"
    assert actions == {2: Action.OPEN_EARLY, 4: Action.CLOSE}


def test_the_window_that_counts_comes_when_steps_have_settled():
    schedule, kinds, actions = played(Plan(), [10 * MS] * 50)
    assert kinds == "wwwpp" + "www" + "c" * 10 + "p" * 5 + "l" * 27
    assert list(actions.values()) == [
        Action.OPEN_EARLY,
        Action.CLOSE,
        Action.OPEN,
        Action.CLOSE,
    ]
    assert schedule.is_done
    assert schedule.settled
    # The first step after a window pays for it, and late ones are not needed.
    assert len(schedule.clean_ns) == 10 + 20


def test_what_the_user_asks_for_is_done():
    plan = Plan(warmup=1, clean=2, active=3)
    schedule, kinds, actions = played(plan, [10 * MS] * 8)
    assert kinds == "w" + "cc" + "ppp" + "ll"
    assert actions == {2: Action.OPEN, 5: Action.CLOSE}
    assert schedule.clean_ns == [10 * MS] * 3


def test_a_device_is_attached_one_step_ahead():
    _, _, actions = played(Plan(warmup=1, clean=2, active=1), [MS] * 6, warms_profiler=True)
    assert actions == {2: Action.PREPARE, 3: Action.OPEN, 4: Action.CLOSE}


def test_steps_that_shrink_are_waited_for():
    shrinking = [int(100 * MS * 0.5**n) + MS for n in range(12)]
    _, kinds, _ = played(Plan(), shrinking + [MS] * 40)
    assert kinds.index("c") > 12


def test_steps_that_never_settle_are_taken_as_they_are():
    wild = itertools.islice(itertools.cycle([1, 2, 3, 9, 1, 30, 7, 80]), 200)
    steps = [MS * 10**n for n in range(4)] + [MS * step * step * step for step in wild]
    schedule, kinds, _ = played(Plan(), steps)
    assert kinds.index("c") <= PATIENCE_STEPS + 4
    assert "p" in kinds[kinds.index("c") :]
    assert schedule.clean_ns


def test_long_steps_are_counted_sparingly():
    schedule, kinds, _ = played(Plan(), [40 * NS_PER_S] * 20)
    assert kinds.startswith("ww" + "ccc" + "pp" + "l")
    assert schedule.is_done


def test_batches_that_workers_had_ready_are_left_out():
    schedule = Schedule(Plan())
    schedule.expect_buffered(20)
    kinds = ""
    for _ in range(60):
        kinds += schedule.kind[0]
        schedule.after_step(10 * MS)
    assert kinds.count("w") == 20


def test_a_window_that_is_cut_counts_when_it_has_a_whole_step():
    schedule, _, _ = played(Plan(warmup=0, clean=1, active=5), [MS] * 4)
    assert schedule.in_window
    schedule.window_cut(whole_steps=2)
    assert schedule.is_done


def test_a_window_without_a_whole_step_is_taken_again():
    schedule, _, _ = played(Plan(warmup=0, clean=1, active=5), [MS] * 2)
    assert schedule.in_window
    schedule.window_cut(whole_steps=0)
    assert not schedule.in_window
    assert schedule.after_step(MS) is Action.OPEN


@pytest.mark.parametrize("steps", [3, 20])
def test_a_profiler_that_is_taken_is_asked_for_again(steps):
    schedule = Schedule(Plan())
    action = Action.NOTHING
    for _ in range(steps):
        action = schedule.after_step(MS)
        if action in (Action.OPEN, Action.OPEN_EARLY):
            schedule.postpone()
    assert action is Action.OPEN_EARLY
    assert not schedule.in_window


def test_steps_of_another_kind_begin_anew():
    schedule, _, _ = played(Plan(), [MS] * 30)
    schedule.restart()
    assert schedule.clean_ns == []
    assert not schedule.is_done
    assert schedule.kind == "warmup"
