"""What recurs beside the steps, and what comes with every step."""

import pytest
from msgspec.structs import replace

from stepscope.advice import checkpoint_time
from stepscope.predict import Behind
from tests.advice.cases import SLOW_LAUNCHES, of_run
from tests.advice.made import context
from tests.known import known


@pytest.mark.parametrize(("checkpoints", "is_told"), [(49, True), (50, False)])
def test_a_checkpoint_in_every_second_step_is_told_by_the_step(checkpoints, is_told):
    waiting = context({"host": 0.3}, launches=SLOW_LAUNCHES)
    both = replace(waiting, run=of_run(checkpoint=30.0, checkpoints=checkpoints).run)
    assert (checkpoint_time.RULE.find(both) is not None) == is_told


def test_where_the_step_does_not_tell_it_the_run_does():
    often = of_run(checkpoint=30.0, checkpoints=100)
    assert checkpoint_time.RULE.find(often) is not None


def test_the_gain_is_that_of_the_account():
    gain = known(known(checkpoint_time.RULE.gain)(of_run(checkpoint=20.0)))
    assert gain.low == pytest.approx(100 / 90)
    assert gain.high == pytest.approx(100 / 80 / 0.95)


def test_a_trace_of_somebody_else_has_no_account():
    assert checkpoint_time.RULE.find(context()) is None
    assert known(checkpoint_time.RULE.gain)(context()) is None


@pytest.mark.parametrize(("steps", "is_told"), [(20, True), (19, False)])
def test_a_short_run_is_not_judged(steps, is_told):
    one = of_run(checkpoint=30.0, steps=steps)
    assert (checkpoint_time.RULE.find(one) is not None) == is_told


def test_what_a_checkpoint_leaves_behind_is_told_and_counts():
    case = of_run(checkpoint=20.0, checkpoints=4)
    assert case.run is not None
    left = Behind("checkpoint", 4, 1.5, 0.5)
    case = replace(case, run=replace(case.run, behind=(Behind("between", 9, 9.0, 9.0), left)))
    last = known(checkpoint_time.RULE.find(case)).evidence
    names = [item.name for item in last]
    assert "the 3 steps behind one checkpoint together longer than others by" in names
    gain = known(known(checkpoint_time.RULE.gain)(case))
    assert gain.high == pytest.approx(100 / (80 - 4 * 2.0))
