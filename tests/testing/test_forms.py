import gzip
import json
from decimal import Decimal
from typing import get_args

import pytest

from stepscope.testing import ERAS, Form
from stepscope.testing.clock import ClockText, base_ns
from stepscope.testing.form import Clock, EventOrder, KeyOrder, Layout
from stepscope.testing.jsontext import Literally, Style
from tests.testing.example import everything

LAYOUTS = get_args(Layout)
OBJECTS = [layout for layout in LAYOUTS if layout not in ("event-list", "bare-list")]


def parse(text):
    document = json.loads(text, parse_float=Decimal)
    return document if isinstance(document, list) else document["traceEvents"]


def nanoseconds(microseconds):
    scaled = Decimal(microseconds) * 1000
    assert scaled == int(scaled)
    return int(scaled)


@pytest.mark.parametrize("clock", get_args(Clock))
@pytest.mark.parametrize("layout", OBJECTS)
def test_every_layout_holds_every_span_to_the_nanosecond(layout, clock):
    trace = everything()
    form = Form(layout=layout, clock=clock)
    document = json.loads(trace.text(form), parse_float=Decimal)
    base = document.get("baseTimeNanoseconds", 0)
    assert (base != 0) == (clock == "relative")
    written = sorted(
        (event["name"], base + nanoseconds(event["ts"]), nanoseconds(event["dur"]))
        for event in document["traceEvents"]
        if event["ph"] == "X" and event["cat"] not in ("Trace", "cpu_instant_event")
    )
    kept = ClockText(clock=clock, keeps_zeros=True, origin_ns=0).kept
    assert written == sorted(
        (span.name, kept(span.start_ns), kept(span.end_ns) - kept(span.start_ns))
        for span in trace.recording().spans
    )


def test_forms_differ_in_spelling_only():
    trace = everything()

    def content(**changes):
        events = parse(trace.text(Form(layout="json-line", **changes)))
        return sorted(json.dumps(event, sort_keys=True, default=str) for event in events)

    plain = content()
    for order in get_args(KeyOrder):
        assert content(key_order=order) == plain
    for order in get_args(EventOrder):
        assert content(event_order=order) == plain
    assert content(header_last=True) == plain


def test_key_order_is_as_asked():
    trace = everything()
    first = list(parse(trace.text(Form(layout="json-line", key_order="sorted")))[0])
    assert first == sorted(first)
    assert parse(trace.text(Form(event_order="time")))[-1]["name"] == "Record Window End"
    behind = json.loads(trace.text(Form(header_last=True)))
    assert next(iter(behind)) == "traceEvents"
    assert "deviceProperties" in behind


@pytest.mark.parametrize(
    ("layout", "start", "end"),
    [
        ("kineto-2021", '\n{\n  "schemaVersion": 1,\n', '"traceName": "made.pt.trace.json"\n}\n'),
        ("kineto-2025", "\n  {\n", "}\n"),
        ("kineto-2026", " {\n", '],"traceName": "made.pt.trace.json" }'),
        ("python-lines", '{\n"schemaVersion": 1,\n', '"traceName": "made.pt.trace.json"\n}\n'),
        ("json-line", '{"schemaVersion": 1, ', "}"),
        ("json-compact", '{"schemaVersion":1,', "}"),
        ("json-indent", '{\n  "schemaVersion": 1,\n', "\n}"),
        ("event-list", '[{"name": "ProfilerStep#0", "ph": "X", "ts": 10.0', "]"),
        ("bare-list", '[{"ph": "X", "cat": "user_annotation"', "]"),
    ],
)
def test_layouts_begin_and_end_as_their_writers_do(layout, start, end):
    text = everything().text(Form(layout=layout))
    assert text.startswith(start)
    assert text.endswith(end)


def test_kineto_wrote_several_fields_a_line_and_now_one():
    trace = everything()
    assert (
        '    "ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 4000, "tid": 4000,\n'
        in trace.text(Form(layout="kineto-2021"))
    )
    assert '    "ph": "X",\n    "cat": "cpu_op",\n    "name": "aten::linear",\n' in trace.text(
        Form(layout="kineto-2026")
    )


def test_the_names_of_2021():
    events = parse(everything().text(Form(old_names=True, text_threads=True)))
    categories = {event["cat"] for event in events if event["ph"] == "X"}
    assert {"Kernel", "Memcpy", "Memset", "Runtime", "Operator", "User"} <= categories
    kernel = next(event for event in events if event.get("cat") == "Kernel")
    assert kernel["tid"] == "stream 7"
    assert "external id" in kernel["args"]
    assert "External id" not in kernel["args"]
    operator = next(event for event in events if event.get("cat") == "Operator")
    assert operator["tid"] == "4000"


def test_arrows_stand_at_both_ends_of_a_launch():
    events = parse(everything().text())
    arrows = [event for event in events if event.get("cat") == "ac2g"]
    launch = next(event for event in events if event["name"] == "cudaLaunchKernel")
    number = launch["args"]["correlation"]
    assert [event["ph"] for event in arrows if event["id"] == number] == ["s", "f"]
    assert [
        event for event in parse(everything().text(Form(flows=False))) if event.get("cat") == "ac2g"
    ] == []


def test_memory_lasts_until_the_end_with_the_python_exporter():
    events = parse(everything().text(Form(layout="python-lines")))
    window_end = next(event["ts"] for event in events if event["name"] == "Record Window End")
    memory = [event for event in events if event["name"] == "[memory]"]
    assert {event["ts"] + event["dur"] for event in memory} == {window_end}


def test_containers_hold_the_same_text():
    trace = everything()
    text = trace.text()
    assert trace.to_bytes() == text.encode()
    for container in ("gzip", "gzip-members"):
        assert gzip.decompress(trace.to_bytes(Form(container=container))) == text.encode()
    assert trace.to_bytes(Form(container="gzip-members")).count(b"\x1f\x8b\x08") > 5


def test_the_suffix_decides_the_container(tmp_path):
    trace = everything()
    assert trace.write(tmp_path / "a.json").read_bytes().startswith(b" {")
    assert trace.write(tmp_path / "a.json.gz").read_bytes().startswith(b"\x1f\x8b")


def test_eras_are_distinct():
    assert len({form for _, form in ERAS}) == len(ERAS)


@pytest.mark.parametrize(
    ("clock", "keeps_zeros", "text"),
    [
        ("epoch-us", True, "1796028000000012"),
        ("epoch-decimal", True, "1796028000000012.340"),
        ("epoch-decimal", False, "1796028000000012.34"),
        ("relative", True, "5170974000012.340"),
    ],
)
def test_clock_text(clock, keeps_zeros, text):
    ns = 1_796_028_000_000_012_340
    origin = base_ns(ns) if clock == "relative" else 0
    assert ClockText(clock=clock, keeps_zeros=keeps_zeros, origin_ns=origin).time(ns) == text


def test_clock_text_keeps_a_digit_and_the_sign():
    clock = ClockText(clock="relative", keeps_zeros=False, origin_ns=10_000)
    assert clock.time(44_000) == "34.0"
    assert clock.time(9_500) == "-0.5"


def test_json_text_is_json():
    value = {
        "b": [1, 2.5, None, True, "é\n"],
        "a": {"x": Literally("1.500")},
        "empty": [],
        "none": {},
    }
    for style in (Style(), Style(comma=",", colon=":"), Style(indent=2), Style(key_order="sorted")):
        read = json.loads(style.dump(value))
        assert read == {**value, "a": {"x": 1.5}}
    assert list(json.loads(Style(key_order="reversed").dump(value))) == ["none", "empty", "a", "b"]
    assert '"x": 1.500' in Style().dump(value)
