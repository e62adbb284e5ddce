"""Steps right behind an interruption are compared with the others of the run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stepscope.predict import behind
from stepscope.schema.run_folder import StepRow
from stepscope.schema.run_time import Phase
from tests.known import known

MS = 1_000_000


def run(*, extra=4, each=10, times=4, part="checkpoint", kind="clean"):
    """Steps of 10 ms, each hundredth of which is slower; after ``each`` of them 30 ms of something else, behind
    which the first step takes ``extra`` ms more."""
    rows: list[StepRow] = []
    phases, now = [Phase("startup", 0)], 100 * MS
    for _ in range(times):
        phases.append(Phase("steps", now))
        for place in range(each):
            is_first = place == 0 and len(phases) > 2
            spent = (10 + (extra if is_first else 0)) * MS + len(rows) % 2
            rows.append(StepRow(len(rows), kind, now, spent, 0))
            now += spent
        phases.append(Phase(part, now))
        now += 30 * MS
    phases.append(Phase("exit", now))
    return rows, phases


@pytest.mark.parametrize("extra", [0, 4, -2])
def test_what_is_left_behind_is_found(extra):
    found = known(behind("checkpoint", *run(extra=extra)))
    assert found.times == 3
    assert found.extra_ms == pytest.approx(extra, abs=0.001)
    assert found.error_ms < 0.001
    assert found.most_ms == pytest.approx(max(extra, 0), abs=0.001)


def test_of_another_part_it_says_nothing():
    assert behind("evaluation", *run()) is None


def test_a_step_in_which_it_began_is_neither_near_nor_far():
    rows, phases = run()
    rows[9] = replace(rows[9], duration_ns=rows[9].duration_ns + 500 * MS)
    assert known(behind("checkpoint", rows, phases)).extra_ms == pytest.approx(4, abs=0.001)


@pytest.mark.parametrize(
    ("changes"),
    [{"each": 2}, {"times": 2}, {"kind": "profiled"}, {"kind": "disturbed"}, {"each": 4}],
    ids=["too few behind", "too few times", "profiled", "disturbed", "too few others"],
)
def test_too_few_steps_tell_nothing(changes):
    assert behind("checkpoint", *run(**changes)) is None


def test_without_phases_nobody_knows():
    assert behind("checkpoint", run()[0], ()) is None


def test_behind_the_last_phase_that_was_noted_nothing_is_known():
    """A run that changes part too often is followed so far only."""
    rows, phases = run()
    assert behind("checkpoint", rows, phases[:4]) is None
