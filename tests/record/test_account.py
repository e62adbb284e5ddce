"""Every moment of a run belongs to one part, and the parts sum to the wall time."""

import random
from itertools import pairwise

from stepscope.record.account import RunAccount
from stepscope.schema.run_time import RUN_PARTS


def parts(time):
    found = {part: getattr(time, f"{part}_ns") for part in RUN_PARTS}
    assert sum(found.values()) == time.wall_ns
    return {part: ns for part, ns in found.items() if ns}


def lengths(time):
    """Time by part, from when the run was in which."""
    ends = [*(phase.start_ns for phase in time.phases[1:]), time.phases[0].start_ns + time.wall_ns]
    found: dict[str, int] = {}
    for phase, end in zip(time.phases, ends, strict=True):
        found[phase.part] = found.get(phase.part, 0) + end - phase.start_ns
    return {part: ns for part, ns in found.items() if ns}


def epoch(account, at, steps, *, feeds=True):
    """Each batch takes 1 to arrive, each step 3 more; the end of the loader takes 1."""
    for _ in range(steps):
        account.asked(at, feeds=feeds)
        account.gave(at + 1, feeds=feeds, delivers=True)
        at += 4
        if feeds:
            account.step_ended(at)
    account.asked(at, feeds=feeds)
    account.gave(at + 1, feeds=feeds, delivers=False)
    return at + 1


def test_a_run_of_two_epochs():
    account = RunAccount(100)
    account.torch_imported(6)
    at = epoch(account, 110, 3)
    at = epoch(account, at + 5, 2)
    account.pauses("checkpoint", at + 2)
    account.resumes(at + 9)
    time = account.time(at + 10)
    # The end of a loader belongs to what comes next: the gap with its 5, or the exit.
    assert parts(time) == {
        "startup": 14,
        "steps": 8 + 1 + 3 + 4,
        "between": 5 + 1,
        "checkpoint": 7,
        "exit": 1 + 3,
    }
    assert (time.import_ns, time.first_step_ns) == (6, 4)
    assert (time.epochs, time.checkpoints, time.evaluations) == (2, 1, 0)


def test_an_evaluation_is_no_part_of_the_step_that_it_lies_in():
    account = RunAccount(0)
    at = epoch(account, 10, 4)
    at = epoch(account, at, 5, feeds=False)
    at = epoch(account, at, 1)
    time = account.time(at)
    assert parts(time)["evaluation"] == 5 * 4 + 1
    assert time.evaluations == 1


def test_an_evaluation_before_training_is_no_start_up():
    account = RunAccount(0)
    at = epoch(account, 10, 5, feeds=False)
    epoch(account, at, 1)
    assert parts(account.time(at + 4))["startup"] == 10 + 4
    assert parts(account.time(at + 4))["evaluation"] == 21


def test_what_follows_the_last_step_is_the_exit():
    account = RunAccount(0)
    at = epoch(account, 0, 2)
    assert parts(account.time(at + 50))["exit"] == 51
    # Unless another step ends after all.
    account.step_ended(at + 60)
    assert "exit" not in parts(account.time(at + 60))


def test_without_a_step_all_is_start_up():
    assert parts(RunAccount(5).time(25)) == {"startup": 20}


def test_the_recorders_own_time_is_told_apart():
    account = RunAccount(0)
    at = epoch(account, 0, 3)
    account.own(2)
    account.pauses("stepscope", at)
    account.resumes(at + 30)
    assert parts(account.time(at + 31))["stepscope"] == 32


def test_the_parts_sum_whatever_happens():
    for seed in range(200):
        draw = random.Random(seed)
        account, at = RunAccount(0), 0
        for _ in range(60):
            at += draw.randrange(5)
            feeds, delivers = draw.random() < 0.6, draw.random() < 0.7
            happens = draw.randrange(5)
            if happens == 0:
                account.asked(at, feeds=feeds)
            elif happens == 1:
                account.gave(at, feeds=feeds, delivers=delivers)
            elif happens == 2:
                account.step_ended(at)
            elif happens == 3:
                account.pauses("checkpoint", at)
            else:
                account.resumes(at)
            assert min(parts(account.time(at)).values(), default=0) >= 0
            assert lengths(account.time(at)) == parts(account.time(at))
            phases = account.time(at).phases
            assert all(one.part != other.part for one, other in pairwise(phases))


def test_phases_say_when_the_run_was_in_which_part():
    account = RunAccount(100)
    at = epoch(account, 110, 3)
    at = epoch(account, at + 5, 2)
    account.pauses("checkpoint", at + 2)
    account.resumes(at + 9)
    time = account.time(at + 10)
    assert [(phase.part, phase.start_ns) for phase in time.phases] == [
        ("startup", 100),
        ("steps", 114),
        ("between", 123),
        ("steps", 129),
        ("exit", 136),
        ("checkpoint", 139),
        ("exit", 146),
    ]
    assert lengths(time) == parts(time)


def test_a_run_that_changes_part_at_every_step_is_followed_so_far():
    account = RunAccount(0)
    for at in range(0, 16_000, 8):
        account.pauses("checkpoint", at + 1)
        account.resumes(at + 2)
        account.step_ended(at + 8)
    assert len(account.time(16_000).phases) <= 1001
