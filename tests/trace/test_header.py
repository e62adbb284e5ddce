"""The keys around the list of events, whole or picked out of broken text."""

from __future__ import annotations

import pytest

from stepscope.trace.header import parse


def test_keys_on_both_sides():
    header = parse(b'{"a": 1, "trace_id": "X",', b', "host_name": "h"}')
    assert header.values == {"a": 1, "trace_id": "X", "host_name": "h"}
    assert (header.trace_id, header.salvaged, header.more_events) == ("X", False, 0)


def test_the_last_of_two_keys_counts():
    assert parse(b'{"trace_id": "a",', b', "trace_id": "b"}').trace_id == "b"


@pytest.mark.parametrize("after", [b"", b"}", b" }\n", b"\n}\n\n", b","])
def test_nothing_behind_the_list(after):
    assert parse(b'{"a": 1,', after).values == {"a": 1}


def test_no_object_around_the_list():
    header = parse(b"", b"")
    assert (header.values, header.salvaged) == ({}, False)


BROKEN = {
    b'{"note": "a"b", "distributedInfo": {"rank": 5}, "x": ': {"distributedInfo": {"rank": 5}},
    b'{"host_name": "h", "note": not json, "baseTimeNanoseconds": 17,': {
        "host_name": "h",
        "baseTimeNanoseconds": 17,
    },
    b'{"deviceProperties": [{"name": "A"}, {"na"me": 2}], "trace_id": "t", ': {"trace_id": "t"},
    b'{"note": "\xff\xfe", "with_stack": 1, bad': {"with_stack": 1},
    b'{"baseTimeNanoseconds": ': {},
}


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_broken_text_gives_the_keys_that_matter(text):
    header = parse(text, b"")
    assert header.salvaged
    assert header.values == BROKEN[text]


@pytest.mark.parametrize("value", [b'"17"', b"1.5", b"null", b"true", b"[1]", b"1" + b"0" * 40])
def test_a_base_that_is_no_whole_number_is_none(value):
    assert parse(b'{"baseTimeNanoseconds": ' + value + b",", b"").base_ns is None


def test_absurd_nesting_in_the_header():
    header = parse(b'{"trace_id": "t", "x": ' + b"[" * 100_000 + b",", b"")
    assert header.salvaged
    assert header.trace_id == "t"
