"""Times exact to the nanosecond in all eras, held against decimal arithmetic on the text."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.trace.events import ABSENT, Scalar
from stepscope.trace.numbers import floats, from_numbers, from_texts, wholes
from tests.trace import small

ERAS = {
    "whole microseconds since 1970": ("1656418297612345", "1656418297612346", "1699999999999999"),
    "decimals since 1970": ("1713799531123456.789", "1713799531123456.1", "1713799531123457.001"),
    "decimals since a base": (
        "4398046511104.123",
        "7889237999999.999",
        "0.001",
        "123456.70",
        "34.0",
    ),
}


def nanoseconds(text):
    return int((Decimal(text) * 1000).to_integral_value(ROUND_HALF_EVEN))


@pytest.mark.parametrize("era", ERAS)
def test_times_of_each_era_are_exact_in_a_file(tmp_path, era):
    base = 0 if "1970" in era else 1711964646000000007
    header = f'"baseTimeNanoseconds": {base}, ' if base else ""
    for text in ERAS[era]:
        event = f'{{"ph": "X", "cat": "cpu_op", "name": "x", "pid": 1, "tid": 2, "ts": {text}, "dur": 7.089}}'
        trace = small.read(tmp_path, f'{{{header}"traceEvents": [{event}]}}'.encode())
        start = nanoseconds(text) + base
        assert trace.host.select("start_ns", "end_ns").rows() == [(start, start + 7089)]


micros = st.integers(-(10**15), 2**61 // 1000 - 1)


@given(st.lists(st.tuples(micros, st.integers(0, 3), st.integers(0, 999)), min_size=1))
@settings(deadline=None)
def test_texts_are_read_digit_by_digit(rows):
    texts = []
    for whole, places, part in rows:
        decimals = f"{part:03d}"[:places]
        texts.append(f"{whole}.{decimals}" if places else str(whole))
    found = from_texts([t.encode() for t in texts])
    assert found.tolist() == [nanoseconds(t) for t in texts]


@given(st.lists(st.tuples(st.integers(0, 2**43 - 1), st.integers(0, 999)), min_size=1))
@settings(deadline=None, max_examples=300)
def test_floats_are_exact_below_their_limit(rows):
    texts = [f"{whole}.{part:03d}" for whole, part in rows]
    found = from_numbers([float(t) for t in texts])
    assert found is not None
    assert found.tolist() == [nanoseconds(t) for t in texts]


def test_the_limit_of_floats_itself():
    below = [f"{2**43 - 1}.{part:03d}" for part in range(1000)]
    found = from_numbers([float(t) for t in below])
    assert found is not None
    assert found.tolist() == [nanoseconds(t) for t in below]
    assert from_numbers([float(2**43)]) is None


@pytest.mark.parametrize(
    "values", [[1713799531123456.5], [None], [1.5, None], [2**63], [2**61], [-(2**61)], [1e300]]
)
def test_numbers_that_may_have_lost_something_are_refused(values):
    assert from_numbers(values) is None


def test_whole_numbers_and_decimals_mixed():
    mixed, nothing = from_numbers([1, 2.5, 3]), from_numbers([])
    assert mixed is not None
    assert mixed.tolist() == [1000, 2500, 3000]
    assert nothing is not None
    assert len(nothing) == 0


ODD = {
    b'"7.25"': 7250,
    b'" 12 "': 12_000,
    b"1e3": 1_000_000,
    b"1.5E-3": 2,
    b"60.95300000000043": 60_953,
    b"0.0005": 0,
    b"0.0015": 2,
    b"-0.5": -500,
    b"": ABSENT,
    b"null": ABSENT,
    b"true": ABSENT,
    b'"abc"': ABSENT,
    b"[1]": ABSENT,
    b"NaN": ABSENT,
    b"1e400": ABSENT,
    b"9" * 30: ABSENT,
    b"9" * 300: ABSENT,
    b"--5": ABSENT,
    b"1.2.3": ABSENT,
    b"5-": ABSENT,
    b"-": ABSENT,
}


def test_odd_texts():
    assert dict(zip(ODD, from_texts(list(ODD)).tolist(), strict=True)) == ODD
    for text, wanted in ODD.items():
        assert from_texts([text]).tolist() == [wanted], text
    assert from_texts([b""], missing=0).tolist() == [0]
    assert from_texts([]).tolist() == []


def test_whole_numbers_of_any_kind():
    values: list[Scalar] = [5, "6", 7.9, None, "N/A", "inf", 2**63, -(2**63), 10**30, "1e3", ABSENT]
    wanted = [5, 6, 7, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, 1000, ABSENT]
    assert wholes(values).tolist() == wanted


def test_fractions_of_any_kind():
    found = floats([5, "6.5", None, "N/A", "inf", float("nan"), 10**400, ABSENT])
    assert found[:2].tolist() == [5.0, 6.5]
    assert np.isnan(found[2:]).all()
