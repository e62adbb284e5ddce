"""Dictionaries of texts."""

from __future__ import annotations

import pytest

from stepscope.errors import LimitError
from stepscope.trace import limits
from stepscope.trace.words import Words


def test_texts_are_numbered_as_they_come():
    words = Words()
    assert words.codes(["b", "a", "b", "", "a"]).tolist() == [0, 1, 0, 2, 1]
    assert list(words) == ["b", "a", ""]
    assert words.characters == 2


def test_long_texts_are_cut_and_the_cut_ones_are_one(monkeypatch):
    monkeypatch.setattr(limits, "NAME_CHARACTERS", 4)
    words = Words()
    assert words.codes(["abcd", "abcdX", "abcdY", "efghi"]).tolist() == [0, 0, 0, 1]
    assert list(words) == ["abcd", "efgh"]
    assert words.cut == {0, 1}


def test_the_limit_of_all_texts_together(monkeypatch):
    monkeypatch.setattr(limits, "DISTINCT_TEXT_BYTES", 5)
    words = Words()
    words.codes(["abc", "ab", "abc"])
    with pytest.raises(LimitError, match="distinct names"):
        words.codes(["x"])
