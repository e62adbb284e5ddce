"""Ranks agree on the steps that they record, by a word of the first one in the store they share."""

import pytest

from stepscope.record import peers
from stepscope.record.peers import PATIENCE, Peers, Start
from stepscope.record.plan import Plan
from stepscope.record.schedule import Action, Schedule

MS = 1_000_000


class Store:
    """A store as torch.distributed has it, in this process."""

    def __init__(self):
        self.kept = {}

    def set(self, key, value):
        self.kept[key] = value.encode()

    def get(self, key):
        return self.kept[key]

    def check(self, keys):
        return all(key in self.kept for key in keys)


class Gone(Store):
    def check(self, keys):
        raise RuntimeError("connection reset")


@pytest.fixture
def as_rank(monkeypatch):
    """Says who is asked next."""
    store = Store()

    def choose(rank, in_store=store):
        monkeypatch.setattr(peers, "_rank_and_store", lambda: (rank, in_store))

    return choose


def test_a_process_alone_opens_at_once():
    alone = Peers()
    assert alone.start(7, None, MS) is None
    assert alone.start(8, 5, MS) == Start(8, 5)


def test_the_others_open_with_the_step_that_the_first_rank_says(as_rank):
    first, other = Peers(), Peers()
    as_rank(1)
    assert other.start(10, 5, 100 * MS) is None, "it waits for the word, though its steps settled"
    as_rank(0)
    said = first.start(14, 20, 100 * MS)
    assert said == Start(17, 20), "some steps ahead, for ranks whose host is ahead"
    as_rank(1)
    assert other.start(14, None, 100 * MS) == said, "also where its own steps have not settled"
    assert other.start(15, 5, 100 * MS) == said


def test_each_window_and_each_kind_of_steps_is_agreed_on_anew(as_rank):
    first, other = Peers(), Peers()
    as_rank(0)
    first.start(10, 5, MS)
    as_rank(1)
    assert other.start(12, None, MS) is not None
    other.taken()
    assert other.start(40, None, MS) is None
    other.start_over()
    first.taken()
    first.start_over()
    as_rank(0)
    said = first.start(50, 5, MS)
    as_rank(1)
    assert other.start(50, None, MS) == said


def test_nobody_is_waited_for_without_end(as_rank):
    as_rank(1)
    other = Peers()
    asked = [other.start(number, 5, MS) for number in range(PATIENCE + 2)]
    assert asked == [None] * (PATIENCE + 1) + [Start(PATIENCE + 1, 5)]


def test_a_store_that_is_gone_stops_nobody(as_rank):
    as_rank(1, Gone())
    assert Peers().start(3, 5, MS) == Start(3, 5)


@pytest.mark.parametrize("warms", [False, True])
def test_a_window_can_be_opened_before_steps_have_settled(warms):
    schedule = Schedule(Plan())
    schedule.warms_profiler = warms
    assert schedule.after_step(10 * MS) is Action.NOTHING
    assert schedule.is_before_window
    if warms:
        assert schedule.open_now(3) is Action.PREPARE
        assert schedule.after_step(10 * MS) is Action.OPEN
    else:
        assert schedule.open_now(3) is Action.OPEN
    assert [schedule.after_step(10 * MS) for _ in range(3)] == [
        Action.NOTHING,
        Action.NOTHING,
        Action.CLOSE,
    ]
    assert schedule.is_done
