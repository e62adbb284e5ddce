"""Damaged traces: none ends in a traceback, a hang, a negative time or a part above its step.

``make fuzz`` tries a hundred thousand; a share of two thousand runs here, a small one even in a hurry.
"""

from __future__ import annotations

from random import Random

import pytest
from fuzz import campaign, invariants, mutations, seeds

QUICK = 120
ALL = 2_000


WHOLE_EVERY = 20
"""Of so many inputs one becomes a report here; ``make fuzz`` takes four times as many."""


def check(tmp_path, numbers):
    outcome = campaign.run(numbers, 1, tmp_path, whole_every=WHOLE_EVERY)
    assert [(failure.number, failure.what) for failure in outcome.failures] == []
    return outcome


def test_a_few_damaged_traces(tmp_path):
    outcome = check(tmp_path, range(QUICK))
    assert outcome.read > QUICK // 2
    assert outcome.refused > 0


@pytest.mark.slow
@pytest.mark.parametrize("share", range(4))
def test_two_thousand_damaged_traces(tmp_path, share):
    check(tmp_path, range(QUICK + share, ALL, 4))


def test_the_same_number_makes_the_same_input():
    originals = seeds.seeds()
    assert campaign.make(7, 1, originals) == campaign.make(7, 1, originals)
    assert campaign.make(7, 1, originals) != campaign.make(7, 2, originals)


@pytest.mark.parametrize("mutation", mutations.MUTATIONS, ids=lambda m: m.__name__.strip("_"))
def test_each_mutation_changes_something(mutation):
    chance = Random(3)
    original = seeds.seeds()[-1]
    assert any(mutation(original, chance) != original for _ in range(20))


def test_mutations_bear_an_empty_text():
    for mutation in mutations.MUTATIONS:
        assert isinstance(mutation(b"", Random(1)), bytes)


def test_a_failure_is_kept_with_its_input(tmp_path, monkeypatch):
    def fail(path, *, with_python):
        raise invariants.BrokenInvariantError("made to fail")

    monkeypatch.setattr(campaign, "check_file", fail)
    outcome = campaign.run(range(2), 1, tmp_path)
    assert [failure.number for failure in outcome.failures] == [0, 1]
    assert "made to fail" in outcome.failures[0].what
    assert outcome.failures[1].data == campaign.make(1, 1, seeds.seeds())
