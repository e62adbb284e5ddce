"""Waiting of ranks for each other, from collectives compared call by call."""

from __future__ import annotations

from stepscope.job.digest import digest_of
from stepscope.job.result import compare
from stepscope.job.waiting import waiting_of
from tests.analysis.made import US, kernel, trace


def rank(number, calls, world=2, name="allreduce"):
    made = trace(
        devices=[
            kernel(s, e, is_communication=True, collective=name, group_name="0", group_size=world)
            for s, e in calls
        ],
        window=(0, 200),
        rank=number,
        world_size=world,
        rank_source="collective",
    )
    return digest_of(made)


def waiting_between(ranks):
    return waiting_of(compare(ranks))


def test_what_a_rank_spends_before_the_last_has_come_is_waiting():
    waiting = waiting_between([rank(0, [(0, 50), (100, 110)]), rank(1, [(40, 50), (90, 110)])])
    assert waiting is not None
    assert (waiting.matched, waiting.total_ns, waiting.waiting_ns) == (2, 90 * US, 50 * US)
    assert (waiting.late_rank, waiting.late_share) == (1, 0.8)
    assert waiting.is_most
    assert not waiting.is_named, "two collectives are too few to blame a rank"


def test_equal_durations_are_transfer():
    waiting = waiting_between([rank(0, [(0, 50)]), rank(1, [(2, 52)])])
    assert waiting is not None
    assert waiting.share <= 0.02
    assert not waiting.is_most


def test_it_abstains():
    one, two = rank(0, [(0, 50)]), rank(1, [(2, 52)])
    assert waiting_between([one]) is None
    assert waiting_between([one, rank(1, [(2, 52)], world=8)]) is None
    assert waiting_between([one, rank(None, [(2, 52)])]) is None
    assert waiting_between([one, rank(1, [(2, 52), (60, 70)])]) is None
    assert waiting_between([rank(0, []), rank(1, [])]) is None
    assert waiting_between([one, two]) is not None
