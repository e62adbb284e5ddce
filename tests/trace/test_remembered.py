"""An answer about a table is worked out once, belongs to that table only, and goes with it."""

from __future__ import annotations

import gc
from functools import partial

import polars as pl
from msgspec.structs import replace

from stepscope.testing import TraceBuilder
from stepscope.trace import remembered as module
from stepscope.trace.idle import blocking_calls
from stepscope.trace.loading import load
from stepscope.trace.remembered import remembered, remembered_of


def test_the_same_table_is_asked_once_and_another_one_again():
    asked = []

    def ask() -> int:
        asked.append(1)
        return len(asked)

    one, other = pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})
    assert [remembered(one, "q", ask), remembered(one, "q", ask)] == [1, 1]
    assert remembered(other, "q", ask) == 2
    assert remembered(one, "another question", ask) == 3


def test_answers_go_with_their_table():
    frame = pl.DataFrame({"a": [1]})
    remembered(frame, "q", list)
    address = id(frame)
    assert address in module._KEPT
    del frame
    gc.collect()
    assert address not in module._KEPT


def _trace(tmp_path):
    builder = TraceBuilder()
    for number in range(2):
        with builder.step(number):
            with builder.op("aten::mm"):
                builder.launch("gemm", 1_000_000)
            builder.synchronize()
    path = tmp_path / "trace.json"
    builder.write(path)
    return load([path])[0]


def test_a_part_of_the_device_table_is_asked_anew(tmp_path):
    trace = _trace(tmp_path)
    part = replace(trace, device=trace.device.head(1))
    whole = replace(trace, windows=())
    lengths = [
        remembered_of(one, "rows", partial(len, one.device)) for one in (trace, part, trace, whole)
    ]
    assert lengths == [2, 1, 2, 2]


def test_a_caller_may_change_the_calls_it_was_given(tmp_path):
    trace = _trace(tmp_path)
    first = blocking_calls(trace)
    assert first.any()
    first[:] = False
    assert blocking_calls(trace).any()
