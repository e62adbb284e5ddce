"""Columns in pieces."""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.trace.rows import Rows


def made():
    rows = Rows()
    rows.add({"a": np.array([1, 2]), "b": np.array([5.0, 6.0])})
    rows.add({"a": np.array([3]), "b": np.array([7.0])})
    return rows


def test_pieces_become_one_column():
    rows = made()
    assert rows.count == 3
    assert rows.peek("a").tolist() == [1, 2, 3]
    assert rows.peek("a").tolist() == [1, 2, 3]
    assert {name: column.tolist() for name, column in rows.packed().items()} == {
        "a": [1, 2, 3],
        "b": [5.0, 6.0, 7.0],
    }


def test_a_column_is_given_up_once_taken():
    rows = made()
    assert rows.take("a").tolist() == [1, 2, 3]
    with pytest.raises(KeyError):
        rows.take("a")
    assert rows.take("b").tolist() == [5.0, 6.0, 7.0]
