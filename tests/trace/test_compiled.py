"""The compiled core reads what is healthy exactly as Python does, and gives back everything else."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.trace import compiled, load
from stepscope.trace.categories import DEVICE_KIND, HOST_KIND, NOT_WORK, PYTHON
from stepscope.trace.columns import TABLES
from stepscope.trace.events import ABSENT, Args
from stepscope.trace.nesting import nest
from tests.trace import small

pytestmark = pytest.mark.skipif(
    compiled.core is None, reason="the compiled core was not built: no C compiler here"
)


def decode(text, *, with_python=True):
    return compiled.decode(text.encode(), with_python=with_python)


def rows(text, table="host"):
    """Columns of one table, as lists."""
    piece = decode(text)
    assert piece is not None, text
    return {n: c.tolist() for n, c in piece.columns.rows[TABLES.index(table)].items()}


def op(fields="", name='"aten::mm"'):
    return f'{{"ph":"X","cat":"cpu_op","name":{name},"pid":1,"tid":2,"ts":10,"dur":5{fields}}}'


def kernel(args="", fields='"pid":0,"tid":7'):
    return f'{{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2,{fields},"args":{{{args}}}}}'


def test_it_knows_every_argument_that_python_asks_for():
    assert compiled.core is not None
    assert set(compiled.core.ARGUMENTS) == {f.encode_name for f in msgspec.structs.fields(Args)}


def test_one_binary_serves_pythons_on_both_sides_of_3_13():
    """A format with ``#`` calls what only one side has."""
    source = (Path(compiled.__file__).parent / "core" / "core.c").read_text(encoding="utf-8")
    formats = re.findall(r'(?:ParseTuple|BuildValue)\([^"]*"([^"]*)"', source)
    assert len(formats) > 2
    assert not any("#" in text for text in formats)


def test_it_knows_every_category():
    known = {text for text, *_ in compiled.CATEGORIES}
    assert known == {*HOST_KIND, *DEVICE_KIND, *NOT_WORK, PYTHON, "cpu_instant_event"}


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("5171002372170.472", 5171002372170472),  # since boot
        ("1714149671543210.987", 1714149671543210987),  # since 1970, which no double holds
        ("1623143093496523", 1623143093496523000),  # whole microseconds of 2021
        ("0.5", 500),
        ("-0.25", -250),
        ("7", 7000),
        ("12.0", 12000),
    ],
)
def test_times_are_exact(text, nanoseconds):
    found = rows(f'[{{"ph":"X","cat":"cpu_op","name":"a","ts":{text},"dur":{text}}}]')
    assert found["start_ns"] == found["dur_ns"] == [nanoseconds]


def test_what_is_not_there_is_absent():
    found = rows('[{"ph":"X","cat":"cpu_op","name":"a","ts":1}]')
    assert found["dur_ns"] == [0]
    for name in ("pid", "tid", "correlation", "external_id", "event_index", "sequence"):
        assert found[name] == [ABSENT]
    assert found["input_dims"] == found["input_types"] == [-1]
    assert found["is_open"] == [False]


def test_ids_may_be_quoted_and_old_ones_are_spelled_small():
    args = ',"args":{"External id":null,"external id":"23648","Ev Idx":"-3","Sequence number":99999999999999999999}'
    found = rows("[" + op(args).replace('"pid":1,"tid":2', '"pid":"25738","tid":"stream 7"') + "]")
    assert (found["pid"], found["tid"]) == ([25738], [7])
    assert (found["external_id"], found["event_index"]) == ([23648], [-3])
    assert found["sequence"] == [ABSENT]  # more than 64 bits


def test_names_with_escapes_and_other_alphabets():
    names = ['"a\\"b\\\\c\\u00e9"', '"größer"', '"内核"', '"a\\"b\\\\c\\u00e9"']
    piece = decode("[" + ",".join(op(name=name) for name in names) + "]")
    assert piece.columns.names == ['a"b\\cé', "größer", "内核"]
    assert piece.columns.rows[0]["name"].tolist() == [0, 1, 2, 0]


def test_shapes_keep_their_text_and_calls_have_none():
    args = ',"args":{"Input Dims":[[2, 3], []],"Input type":["float", ""]}'
    piece = decode("[" + op(args) + "," + op(args).replace("cpu_op", "cuda_runtime") + "]")
    assert piece.columns.shapes == ["[[2, 3], []]", '["float", ""]']
    assert piece.columns.rows[0]["input_dims"].tolist() == [0, -1]


@pytest.mark.parametrize(
    ("value", "is_open"),
    [("false", True), ('"false"', True), ("true", False), ("null", False), ("0", False)],
)
def test_ranges_without_an_end(value, is_open):
    assert rows("[" + op(f',"args":{{"finished":{value}}}') + "]")["is_open"] == [is_open]


def test_a_kernel_with_all_that_it_states():
    args = (
        '"device":1,"stream":4294967295,"correlation":9,"External id":4,"bytes":8,"grid":[2, 3, 4],'
        '"block":[2147483647,2147483647,2147483647],"blocks per SM":0.25,"warps per SM":3e1,'
        '"est. achieved occupancy %":31,"Collective name":"allreduce","dtype":"Float","In msg nelems":5,'
        '"Out msg nelems":7,"Group size":2,"Process Group Name":"0","Seq":6'
    )
    found = rows("[" + kernel(args) + "]", "device")
    names = decode("[" + kernel(args) + "]").columns.names
    assert (found["device"], found["stream"], found["correlation"]) == ([1], [-1], [9])
    assert (found["blocks"], found["threads_per_block"]) == ([24], [ABSENT])
    assert (found["blocks_per_sm"], found["warps_per_sm"]) == ([0.25], [30.0])
    assert found["occupancy_percent"] == [31.0]
    for column, text in (
        ("collective", "allreduce"),
        ("collective_dtype", "Float"),
        ("group_name", "0"),
    ):
        assert names[found[column][0]] == text
    assert (found["collective_elements"], found["group_size"], found["sequence"]) == ([7], [2], [6])


def test_device_and_stream_fall_back_to_process_and_thread():
    found = rows("[" + kernel(fields='"pid":3,"tid":"stream 20"') + "]", "device")
    assert (found["device"], found["stream"]) == ([3], [20])
    assert np.isnan(found["occupancy_percent"]).all()


def test_memory_flows_spans_and_what_no_table_holds():
    text = (
        '[{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":2.5,"args":{"Bytes":-4,'
        '"Total Allocated":8,"Total Reserved":9,"Device Type":1,"Device Id":0,"Addr":77}},'
        '{"ph":"s","id":5,"pid":1,"tid":1,"ts":3,"cat":"ac2g","name":"ac2g"},'
        '{"ph":"f","id":5,"pid":0,"tid":7,"ts":4,"cat":"ac2g","name":"ac2g","bp":"e"},'
        '{"ph":"s","id":6,"pid":1,"tid":1,"ts":3,"cat":"fwdbwd","name":"fwdbwd"},'
        '{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"Spans","ts":1,"dur":9},'
        '{"ph":"X","cat":"gpu_user_annotation","name":"step","ts":1,"dur":9,"pid":0,"tid":7},'
        '{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}}, {}]'
    )
    memory, flows, spans = (rows(text, table) for table in ("memory", "flows", "spans"))
    assert (memory["time_ns"], memory["bytes"], memory["address"]) == ([2500], [-4], [77])
    assert (flows["is_start"], flows["time_ns"]) == ([True, False], [3000, 4000])
    assert (spans["start_ns"], spans["dur_ns"]) == ([1000], [9000])
    piece = decode(text)
    assert (piece.count, piece.columns.complete) == (8, 2)


def test_python_frames_are_counted_or_kept():
    frame = '[{"ph":"X","cat":"python_function","name":"f","pid":1,"tid":1,"ts":1,"dur":1}]'
    kept, counted = (decode(frame, with_python=wanted) for wanted in (True, False))
    assert (kept.columns.python, counted.columns.python) == (1, 1)
    assert (len(kept.columns.rows[0]["name"]), counted.columns.rows[0]) == (1, {})


def test_text_behind_the_list_is_left():
    piece = decode("[" + op() + '], "traceName": "x"}')
    assert piece.length == len("[" + op() + "]")


def test_the_rank_is_that_of_the_first_collective():
    records = [
        op(f',"args":{{"Rank":{rank}}}', '"record_param_comms"') for rank in ("null", "3", "4")
    ]
    assert decode("[" + ",".join(records) + "]").columns.rank == 3


GIVEN_BACK = {
    "not a list": "{}",
    "cut": "[" + op()[:-1],
    "a comma too many": "[" + op() + ",]",
    "a comma too few": "[" + op() + op() + "]",
    "no object": "[1]",
    "bare NaN": "[" + op(',"args":{"x":NaN}') + "]",
    "a zero too many": "[" + op(',"args":{"x":007}') + "]",
    "a quoted time": '[{"ph":"X","cat":"cpu_op","name":"a","ts":"1","dur":1}]',
    "no time": '[{"ph":"X","cat":"cpu_op","name":"a"}]',
    "a time with an exponent": '[{"ph":"X","cat":"cpu_op","name":"a","ts":1e6,"dur":1}]',
    "picoseconds": '[{"ph":"X","cat":"cpu_op","name":"a","ts":1.0005,"dur":1}]',
    "a time beyond 64 bits": '[{"ph":"X","cat":"cpu_op","name":"a","ts":9999999999999999,"dur":1}]',
    "a duration of null": '[{"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":null}]',
    "a control character": "[" + op(name='"a\x01"') + "]",
    "an escape that is none": "[" + op(name='"\\q"') + "]",
    "half a surrogate pair": "[" + op(name='"\\ud800"') + "]",
    "an escaped key": "[" + op(',"\\u0061rgs":{}') + "]",
    "arguments twice": "[" + op(',"args":{},"args":{}') + "]",
    "arguments that are a list": "[" + op(',"args":[]') + "]",
    "nested absurdly": "[" + op(',"args":{"x":' + "[" * 99 + "]" * 99 + "}") + "]",
    "an unknown category": "[" + op().replace("cpu_op", "invented") + "]",
    "the layout of 2020": '[{"ph":"X","name":"a","ts":1,"dur":1,"pid":"CPU functions","tid":1}]',
    "a process that is a word": "[" + op().replace('"pid":1', '"pid":"main"') + "]",
    "an id that is true": "[" + op(',"args":{"correlation":true}') + "]",
    "an id with a fraction": "[" + op(',"args":{"correlation":1.5}') + "]",
    "a grid of two": "[" + kernel('"grid":[1, 2]') + "]",
    "an occupancy of many digits": "["
    + kernel('"est. achieved occupancy %":0.1234567890123456789')
    + "]",
}


@pytest.mark.parametrize("text", GIVEN_BACK.values(), ids=GIVEN_BACK)
def test_what_is_odd_is_given_back(text):
    assert decode(text) is None


def test_a_name_that_is_no_utf8_is_given_back():
    for category in (b"cpu_op", b"python_function"):
        text = b"[" + op(name='"a?"').encode().replace(b"?", b"\xff").replace(b"cpu_op", category)
        assert compiled.decode(text + b"]", with_python=False) is None


@pytest.mark.parametrize("with_python", [False, True], ids=["ops", "frames"])
@pytest.mark.parametrize(
    "path",
    [p for p in sorted(small.RECORDED.glob("*.json.gz")) if not p.name.startswith("memtl")],
    ids=lambda p: p.name,
)
def test_recorded_traces_read_alike_without_it(monkeypatch, path, with_python):
    (one,) = load([path], with_python=with_python)
    monkeypatch.setattr(compiled, "core", None)
    (other,) = load([path], with_python=with_python)
    for name in ("host", "device", "memory", "steps"):
        assert getattr(one, name).equals(getattr(other, name)), name
    assert (one.notices, one.meta) == (other.notices, other.meta)


def test_threads_do_not_disturb_each_other():
    texts = ["[" + ",".join(op(name=f'"n{i}_{j}"') for j in range(200)) + "]" for i in range(40)]
    with ThreadPoolExecutor(4) as pool:
        pieces = list(pool.map(decode, texts))
    for i, piece in enumerate(pieces):
        assert piece.columns.names == [f"n{i}_{j}" for j in range(200)]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 3_000)), max_size=40)
)
@settings(deadline=None, max_examples=400)
def test_the_core_and_python_agree_on_whatever_crosses(rows):
    """Few places, so that many events share their start or end."""
    rows = sorted(rows, key=lambda r: (r[1], -r[2]))
    thread = np.array([r[0] for r in rows], np.int64)
    start = np.array([r[1] * 100 for r in rows], np.int64)
    end = start + np.array([r[2] // 100 * 100 for r in rows], np.int64)
    found = nest(thread, start, end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "core", None)
        alone = nest(thread, start, end)
    for one, other in zip(found, alone, strict=True):
        assert one.tolist() == other.tolist()
