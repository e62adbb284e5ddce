"""Questions about names give what asking each name gives."""

from __future__ import annotations

import re

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.trace.matching import distinct, mapped, matches

names = st.lists(
    st.sampled_from(["cudaLaunchKernel", "aten::mm", "", "nccl:all", "x\ny", "é"]), max_size=30
)


@given(names, st.sampled_from(["cuda", "^a", "nothing", "", "(?i)NCCL", "^$"]))
@settings(deadline=None)
def test_matches(texts, pattern):
    found = matches(pl.Series(texts, dtype=pl.Categorical), pattern)
    assert found.tolist() == [bool(re.search(pattern, text)) for text in texts]


@given(names)
@settings(deadline=None)
def test_mapped(texts):
    found = mapped(
        pl.Series(texts, dtype=pl.Categorical), lambda s: s.str.to_uppercase(), pl.String
    )
    assert found.to_list() == [text.upper() for text in texts]


def test_each_distinct_name_is_asked_once():
    asked = []

    def ask(distinct):
        asked.append(len(distinct))
        return distinct

    mapped(pl.Series(["a", "b"] * 500, dtype=pl.Categorical), ask, pl.String)
    assert asked == [2]


def test_a_column_of_a_table_is_encoded_once_and_asked_by_kind():
    frame = pl.DataFrame({"kind": pl.Series(["a", "b", "a"], dtype=pl.Categorical)})
    assert distinct(frame, "kind") is distinct(frame, "kind")
    assert distinct(frame, "kind").is_in(("a", "c")).tolist() == [True, False, True]
    assert distinct(frame.clear(), "kind").is_in(("a",)).tolist() == []


def test_more_texts_than_a_byte_can_number_are_told_apart():
    texts = [f"name {number}" for number in range(700)]
    found = matches(pl.Series(texts, dtype=pl.Categorical), "9$")
    assert found.tolist() == [text.endswith("9") for text in texts]
