"""What is dear is done when it is due and when it has been earned."""

import time

import pytest

from stepscope.watch.allowance import Allowance


@pytest.fixture
def clock(monkeypatch):
    """The processor time of this thread, set by hand."""
    now = [0.0]
    monkeypatch.setattr(time, "thread_time", lambda: now[0])
    return now


def spend(allowance, clock, at_s, cost_s, again_in_s=1.0):
    with allowance.spending(at_s, again_in_s):
        clock[0] += cost_s


def test_it_waits_until_it_is_due(clock):
    allowance = Allowance()
    assert allowance.allows(0)
    spend(allowance, clock, 0, 0.0)
    assert not allowance.allows(0.9)
    assert allowance.allows(1.0)


def test_it_waits_until_it_is_earned(clock):
    allowance = Allowance(share=0.01)
    spend(allowance, clock, 0, 0.1)
    assert not allowance.allows(9.9)
    assert allowance.allows(10.1)


def test_the_credit_is_spent_once(clock):
    allowance = Allowance(credit_s=0.1, share=0.01)
    for at_s in range(3):
        assert allowance.allows(at_s)
        spend(allowance, clock, at_s, 0.06, again_in_s=0.5)
    assert not allowance.allows(3)
    assert allowance.allows(8.1)
