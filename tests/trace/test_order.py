"""Sorting by many keys, held against Python's own sort."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.trace.order import sorted_rows

rows = st.lists(st.tuples(*[st.integers(0, 2)] * 4), max_size=40)


@given(rows)
@settings(deadline=None)
def test_rows_come_in_the_order_of_all_keys(table):
    columns = [np.array([row[n] for row in table], np.int64) for n in range(4)]
    order = sorted_rows(columns[:2], lambda: columns[2:])
    assert order.tolist() == sorted(range(len(table)), key=lambda r: table[r])


def test_further_keys_are_made_only_for_ties():
    def never():
        raise AssertionError("asked for more keys")

    keys = [np.array([3, 1, 2]), np.array([0, 0, 0])]
    assert sorted_rows(keys, never).tolist() == [1, 2, 0]
