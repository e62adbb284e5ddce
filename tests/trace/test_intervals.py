"""Interval algebra, held against a bitmap that counts every nanosecond."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.trace import intervals as iv

SIZE = 40
spans = st.lists(
    st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(lambda p: (min(p), max(p))),
    max_size=12,
).map(lambda rows: np.array(rows, dtype=np.int64).reshape(-1, 2))
bounds = st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(lambda p: (min(p), max(p)))


def bits(a):
    """The bitmap of a set: one boolean a nanosecond."""
    out = np.zeros(SIZE, dtype=bool)
    for start, end in a.tolist():
        out[start:end] = True
    return out


def check_is_set(a):
    assert a.dtype == np.int64
    assert a.shape == (len(a), 2)
    assert (a[:, 1] > a[:, 0]).all()
    assert (a[1:, 0] >= a[:-1, 1]).all()


@given(spans, spans)
def test_union_covers_what_either_covers_and_merges_what_touches(a, b):
    got = iv.union(a, b)
    check_is_set(got)
    assert (got[1:, 0] > got[:-1, 1]).all()
    assert (bits(got) == (bits(a) | bits(b))).all()
    assert iv.total(got) == (bits(a) | bits(b)).sum()


@given(spans, spans)
def test_intersect_and_subtract(a, b):
    first, second = iv.union(a), iv.union(b)
    for got, want in (
        (iv.intersect(first, second), bits(a) & bits(b)),
        (iv.subtract(first, second), bits(a) & ~bits(b)),
    ):
        check_is_set(got)
        assert (bits(got) == want).all()


@given(spans, bounds)
def test_clip_and_complement(a, window):
    start, end = window
    inside = np.zeros(SIZE, dtype=bool)
    inside[start:end] = True
    for got, want in (
        (iv.clip(iv.union(a), start, end), bits(a) & inside),
        (iv.complement(iv.union(a), start, end), ~bits(a) & inside),
    ):
        check_is_set(got)
        assert (bits(got) == want).all()


@given(spans, spans)
def test_measure_gives_the_length_in_each_window_even_when_windows_overlap(a, windows):
    got = iv.measure(iv.union(a), windows)
    assert got.tolist() == [int(bits(a)[s:e].sum()) for s, e in windows.tolist()]


@given(spans)
def test_covered_before_and_contains(a):
    times = np.arange(SIZE)
    one = iv.union(a)
    assert iv.covered_before(one, times).tolist() == [int(bits(a)[:t].sum()) for t in times]
    assert (iv.contains(one, times) == bits(a)).all()


@given(spans, spans, st.sampled_from([0.5, 1.0, 2.5]))
def test_level_integral(a, windows, cap):
    weights = np.linspace(0.25, 1.5, len(a))
    level = np.zeros(SIZE)
    for (start, end), weight in zip(a.tolist(), weights, strict=True):
        level[start:end] += weight
    want = float(np.minimum(level, cap)[bits(windows)].sum())
    got = iv.level_integral(a, weights, cap, iv.union(windows))
    assert got == pytest.approx(want, abs=1e-9)


def test_of_reads_a_table_in_any_order():
    frame = pl.DataFrame({"start_ns": [5, 0, 1], "end_ns": [9, 2, 3]})
    assert iv.of(frame).tolist() == [[0, 3], [5, 9]]


def test_union_of_nothing_is_empty():
    assert iv.union().shape == (0, 2)
    assert iv.total(iv.NONE) == 0
