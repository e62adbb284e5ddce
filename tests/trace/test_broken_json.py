"""Text that is no valid JSON, as real writers emit it: mended with a count and a place, all else exact."""

from __future__ import annotations

import json

import pytest

from stepscope.trace import load
from tests.trace import small
from tests.trace.small import codes, names, notice, op, read, training

AROUND = 40


def broken(old, new, *, indent=None, count=1):
    """A trace of many operators, one of which has its text changed."""
    events = [op(f"op{n}", 10 * n, 5, External_id=n) for n in range(AROUND)]
    events[17]["name"] = "VICTIM"
    text = json.dumps(small.document([*training(), *events]), indent=indent).encode()
    assert old in text
    return text.replace(old, new, count)


def check_others(trace, *, victim):
    """All other events are there and exact; the victim has this name, or is gone."""
    ops = trace.host.filter(trace.host["external_id"].is_not_null())
    numbers = ops["external_id"].to_list()
    wanted = [n for n in range(AROUND) if n != 17 or victim is not None]
    assert sorted(numbers) == wanted
    for row in ops.iter_rows(named=True):
        number = row["external_id"]
        assert row["name"] == (victim if number == 17 else f"op{number}")
        assert row["start_ns"] == 1_700_000_000_000_000_000 + (small.START_US + 10 * number) * 1000
        assert row["end_ns"] - row["start_ns"] == 5000
    assert len(trace.device) == 3


MENDED = {
    "unescaped quotes in a name": (b"VICTIM", b'a"b', 'a"b'),
    "quotes that look like fields": (b"VICTIM", b'f("x", "y")', 'f("x", "y")'),
    "an unescaped backslash": (b"VICTIM", rb"C:\x\q.py(3): f", r"C:\x\q.py(3): f"),
    "a backslash before a u that is no code": (b"VICTIM", rb"C:\user", r"C:\user"),
    "a raw tab": (b"VICTIM", b"a\tb", "a b"),
    "a raw newline": (b"VICTIM", b"a\nb", "a b"),
    "a zero byte": (b"VICTIM", b"a\0b", "a b"),
    "invalid UTF-8": (b"VICTIM", b"a\xff\xfeb", "a\ufffd\ufffdb"),
    "half a UTF-8 character": (b"VICTIM", b"caf\xc3", "caf\ufffd"),
    "a lone surrogate": (b"VICTIM", rb"a\ud83d b", "a\ufffd b"),
    "bare NaN": (b'"External id": 17', b'"External id": 17, "x": NaN', "VICTIM"),
    "bare Infinity": (b'"External id": 17', b'"External id": 17, "x": -Infinity', "VICTIM"),
    "bare inf": (b'"External id": 17', b'"External id": 17, "blocks per SM": inf', "VICTIM"),
    "bare N/A": (b'"External id": 17', b'"x": N/A, "External id": 17', "VICTIM"),
    "NaN in a list": (b'"External id": 17', b'"External id": 17, "x": [1, NaN, -inf]', "VICTIM"),
    "a trailing comma in args": (b'"External id": 17', b'"External id": 17, ', "VICTIM"),
    "quotes in an argument": (
        b'"External id": 17',
        b'"Call stack": "f("a") g", "External id": 17',
        "VICTIM",
    ),
    "a control character in an argument": (
        b'"External id": 17',
        b'"Call stack": "f\x01g", "External id": 17',
        "VICTIM",
    ),
}


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "indented"])
@pytest.mark.parametrize("fault", MENDED)
def test_what_can_be_mended_is_mended(tmp_path, fault, indent):
    old, new, victim = MENDED[fault]
    trace = read(tmp_path, broken(old, new, indent=indent))
    check_others(trace, victim=victim)
    assert codes(trace) == ["repaired"]
    assert notice(trace, "repaired").count == 1
    assert "$.traceEvents[29]" in notice(trace, "repaired").text


LOST = {
    "a field cut out": (b'"External id": 17}', b'"External id": 1'),
    "an event without its start": (b'{"ph": "X", "cat": "cpu_op", "name": "VICTIM", ', b"{ ] "),
    "garbage": (b'"name": "VICTIM", "pid"', b"@@@@"),
    "a missing colon": (b'"name": "VICTIM"', b'"name" "VICTIM"'),
    "a leading zero": (b'"External id": 17', b'"External id": 017'),
}


@pytest.mark.parametrize("fault", LOST)
def test_what_cannot_be_mended_is_dropped_alone_and_counted(tmp_path, fault):
    trace = read(tmp_path, broken(*LOST[fault]))
    check_others(trace, victim=None)
    assert codes(trace) == ["unreadable-events"]
    assert notice(trace, "unreadable-events").count == 1
    assert "$.traceEvents[29]" in notice(trace, "unreadable-events").text


def test_invalid_text_in_an_argument_that_nobody_reads_is_no_fault(tmp_path):
    trace = read(tmp_path, broken(b'"External id": 17', b'"Call stack": "\xff", "External id": 17'))
    check_others(trace, victim="VICTIM")
    assert codes(trace) == []


def test_a_trailing_comma_in_an_event(tmp_path):
    trace = read(tmp_path, broken(b'"External id": 17}}', b'"External id": 17},}'))
    check_others(trace, victim="VICTIM")
    assert codes(trace) == ["repaired"]


def test_two_commas_between_events(tmp_path):
    trace = read(tmp_path, broken(b'17}}, {"ph"', b'17}}, , {"ph"'))
    check_others(trace, victim="VICTIM")


def test_a_comma_behind_the_last_event(tmp_path):
    trace = read(tmp_path, broken(b"}]}", b"},]}"))
    check_others(trace, victim="VICTIM")
    assert "truncated" not in codes(trace)


def test_a_missing_comma_between_events(tmp_path):
    trace = read(tmp_path, broken(b'17}}, {"ph"', b'17}} {"ph"'))
    check_others(trace, victim="VICTIM")


def test_the_last_event_broken_ends_the_list_all_the_same(tmp_path):
    text = broken(f'"op{AROUND - 1}"'.encode(), b'"a"b"')
    trace = read(tmp_path, text)
    assert 'a"b' in names(trace.host)
    assert codes(trace) == ["repaired"]


def test_every_event_broken_is_mended_in_linear_time(tmp_path):
    events = [op("a@b", n, 1, External_id=n) for n in range(20_000)]
    trace = read(tmp_path, small.text_of(events).replace(b"@", b'"'))
    assert len(trace.host) == 20_000
    assert notice(trace, "repaired").count == 20_000


def test_faults_spread_over_many_pieces_are_all_found(tmp_path):
    events = [op("x" * 300, n, 1, External_id=n) for n in range(8_000)]
    for number in range(5, 8_000, 997):
        events[number]["name"] = "VICTIM"
    trace = read(tmp_path, small.text_of(events).replace(b"VICTIM", b'a"b'))
    assert notice(trace, "repaired").count == len(range(5, 8_000, 997))
    assert "$.traceEvents[5]" in notice(trace, "repaired").text
    assert sorted(trace.host["external_id"].to_list()) == list(range(8_000))


def test_absurd_nesting_costs_its_event_alone(tmp_path):
    deep = b"[" * 200_000 + b"]" * 200_000
    trace = read(tmp_path, broken(b'"External id": 17', b'"x": ' + deep))
    check_others(trace, victim=None)
    assert notice(trace, "unreadable-events").count == 1


def test_nesting_that_only_some_interpreters_bear_costs_no_other_event(tmp_path):
    deep = b"[" * 2_000 + b"]" * 2_000
    trace = read(tmp_path, broken(b'"External id": 17', b'"External id": 17, "x": ' + deep))
    is_there = 17 in trace.host["external_id"].to_list()
    check_others(trace, victim="VICTIM" if is_there else None)
    assert codes(trace) == ([] if is_there else ["unreadable-events"])


def test_an_event_that_holds_a_list_of_objects_is_one_event(tmp_path):
    stack = [{"name": f"f{n}", "ts": n} for n in range(50)]
    events = [op("outer", 0, 10, frames=stack), op("inner", 2, 3, frames=stack)]
    trace = read(tmp_path, events)
    assert names(trace.host) == ["outer", "inner"]
    assert codes(trace) == []


def test_lists_of_objects_across_the_borders_of_pieces(tmp_path):
    stack = [{"name": "f" * 200, "ts": n} for n in range(300)]
    events = [op(f"op{n}", n, 1, frames=stack) for n in range(60)]
    trace = read(tmp_path, events)
    assert names(trace.host) == [f"op{n}" for n in range(60)]
    assert codes(trace) == []


def test_an_unclosed_list_swallows_no_other_event(tmp_path):
    trace = read(tmp_path, broken(b'"External id": 17', b'"x": [ {"y": 1'))
    check_others(trace, victim=None)


def test_objects_between_events_that_are_none_are_passed_over(tmp_path):
    trace = read(tmp_path, broken(b'17}}, {"ph"', b'17}}, {}, {"foo": 1}, {"ph"'))
    check_others(trace, victim="VICTIM")
    assert codes(trace) == []


def test_two_traces_in_one_file_are_said(tmp_path):
    one = small.text_of(training())
    trace = read(tmp_path, one + b"\n" + one)
    assert len(trace.device) == 3
    assert notice(trace, "more-events").count == len(training())


def test_a_header_with_a_quote_in_a_value_keeps_the_keys_that_matter(tmp_path):
    info = {"rank": 3, "world_size": 4, "backend": "nccl"}
    text = small.text_of(training(), distributedInfo=info, note="VICTIM")
    trace = read(tmp_path, text.replace(b"VICTIM", b'va/"lue'))
    assert (trace.meta.rank, trace.meta.world_size, trace.meta.clock) == (3, 4, "epoch")
    assert "header-repaired" in codes(trace)


def test_log_lines_with_quotes_behind_the_events(tmp_path):
    text = (
        small.text_of(training())[:-1]
        + b',"WARNING":["said "no" twice"], "baseTimeNanoseconds": 7}'
    )
    trace = read(tmp_path, text)
    assert codes(trace) == ["header-repaired"]
    assert len(trace.device) == 3


def test_a_value_that_is_no_json_in_the_header(tmp_path):
    text = small.text_of(training(), note="VICTIM").replace(b'"VICTIM"', b"not json at all")
    trace = read(tmp_path, text)
    assert codes(trace) == ["header-repaired"]
    assert trace.meta.clock == "epoch"


def test_the_key_of_the_list_inside_a_string_is_not_the_list(tmp_path):
    text = small.text_of(training(), note='a "traceEvents": [ b').replace(b"\\/", b"/")
    assert len(read(tmp_path, text).device) == 3


def test_a_string_called_trace_events_before_the_list(tmp_path):
    text = small.text_of(training())
    text = b'{"traceEvents": "shadow", ' + text[1:]
    assert len(read(tmp_path, text).device) == 3


def test_names_of_megabytes_are_cut_and_said(tmp_path):
    trace = read(tmp_path, [*training(), op("n" * 3_000_000, 0, 5)])
    assert notice(trace, "long-names").count == 1
    assert max(map(len, names(trace.host))) == 65_536


@pytest.mark.parametrize("name", ["all_flags", "weird_names", "meta_key_quote", "meta_notjson"])
def test_the_invalid_files_that_torch_wrote_are_read_with_a_notice(name):
    (trace,) = load([small.RECORDED / f"{name}.json.gz"])
    assert {"repaired", "header-repaired"} & set(codes(trace))
    assert "unreadable-events" not in codes(trace)


def test_a_name_that_was_broken_reads_like_the_one_that_was_escaped():
    (broken_file,) = load([small.RECORDED / "weird_names.json.gz"])
    assert notice(broken_file, "repaired").count > 0
    assert any('"' in name for name in names(broken_file.host))


@pytest.mark.parametrize("order", ["sob", "bo", "so", "sbo", "osb"])
def test_an_event_that_is_no_utf8_and_has_fields_of_unexpected_types(tmp_path, order):
    """That it is no UTF-8 is noticed only when it is looked at once more."""
    pieces = {
        "s": json.dumps(op("sound", 10, 5)).encode(),
        "o": b'{"ph": "i", "s": "g", "\xff\xfe": "x", "tid": "T", "ts": 5, "args": 0}',
        "b": b'{"ph": "X", "cat": "cpu_op", "name": "a\\x", "pid": 1, "tid": 1, "ts": 30, "dur": 5}',
    }
    path = tmp_path / "trace.json"
    path.write_bytes(b'{"traceEvents": [' + b", ".join(pieces[one] for one in order) + b"]}")
    (trace,) = load([path])
    assert ("sound" in trace.host["name"].to_list()) == ("s" in order)
    assert {"unreadable-events", "repaired"} & set(codes(trace))


@pytest.mark.parametrize("order", ["ous", "uos", "sou", "osu"])
def test_a_name_that_is_no_utf8_beside_an_event_with_a_field_of_an_unexpected_type(tmp_path, order):
    """Such a list is read event by event, and only then are the texts of the others looked at."""
    pieces = {
        "s": json.dumps(op("sound", 10, 5)).encode(),
        "o": json.dumps({**op("odd", 20, 5), "id": [1]}).encode(),
        "u": json.dumps(op("a?b", 30, 5)).encode().replace(b"?", b"\xff"),
    }
    path = tmp_path / "trace.json"
    path.write_bytes(b'{"traceEvents": [' + b", ".join(pieces[one] for one in order) + b"]}")
    (trace,) = load([path])
    assert sorted(trace.host["name"].to_list()) == ["a\ufffdb", "odd", "sound"]
    assert "repaired" in codes(trace)
