"""How sure it is that a rank is late and not merely the last by chance."""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.job.blame import Blame
from stepscope.job.straggler import _by_chance


def late(culprits, size):
    count = len(culprits)
    ones = np.ones(count, dtype=np.int64)
    return Blame(
        culprit=np.array(culprits, dtype=np.int64),
        last=np.array(culprits, dtype=np.int64),
        wait_ns=ones,
        loss_ns=ones,
        late_ns=ones,
        step=ones,
        excess_ns=np.zeros((count, 0), dtype=np.int64),
        parts=(),
        spread_ns=ones,
        kind=("all-reduce",) * count,
        group_id=0 * ones,
        size=size * ones,
    )


def chance(culprits, size):
    found = late(culprits, size)
    return _by_chance(found, found.culprit == 0, size)


def test_three_of_three_of_four_ranks_may_be_chance():
    assert chance([0, 0, 0], 4) == pytest.approx(4 * 0.25**3)


def test_nine_of_nine_are_none():
    assert chance([0] * 9, 2) == pytest.approx(2 * 0.5**9)


def test_by_turns_is_chance():
    assert chance([0, 1, 2, 3] * 5, 4) == 1.0


def test_many_thousand_calls_stay_finite():
    assert chance([0] * 6000 + [1] * 4000, 2) < 1e-6
    assert chance([0] * 5000 + [1] * 5000, 2) == 1.0
