"""Which leading steps are start-up."""

from __future__ import annotations

import polars as pl
import pytest

from stepscope.schema import tables
from stepscope.testing import A100, Setup, TraceBuilder
from stepscope.trace import intervals as iv
from stepscope.trace import load, startup
from stepscope.trace.tables import DTYPES, empty

MS = 1_000_000


def steps_of(*lengths):
    at, rows = 0, []
    for number, length in enumerate(lengths):
        rows.append((number, 0, at * MS, (at + length) * MS, False, False))
        at += length
    form = {c.name: DTYPES[c.dtype] for c in tables.STEPS.columns}
    return pl.DataFrame(rows, schema=form, orient="row")


def host_of(*calls):
    return pl.DataFrame(
        [{"name": n, "start_ns": a * MS, "end_ns": b * MS} for n, a, b in calls],
        schema={"name": pl.Categorical(), "start_ns": pl.Int64(), "end_ns": pl.Int64()},
    )


def device_of(*spans):
    rows = [{"start_ns": a * MS, "end_ns": b * MS} for a, b in spans]
    return pl.DataFrame(rows, schema={"start_ns": pl.Int64(), "end_ns": pl.Int64()})


def flags(lengths, calls=(), busy=()):
    marked = startup.mark(steps_of(*lengths), host_of(*calls), device_of(*busy))
    return marked["is_startup"].to_list()


def test_equal_steps_are_steady():
    assert flags([10, 10, 11, 10]) == [False] * 4


def test_a_first_step_three_times_as_long_is_start_up_whatever_it_holds():
    assert flags([31, 10, 10, 10]) == [True, False, False, False]
    assert flags([30, 10, 10, 10]) == [False] * 4


@pytest.mark.parametrize(
    "call",
    ["cudaGetDeviceProperties", "cuModuleLoadData", "Lazy Function Loading", "ncclCommInitRank"],
)
def test_a_first_step_that_first_calls_explain_is_start_up(call):
    assert flags([15, 10, 10], [(call, 1, 4)]) == [True, False, False]
    assert flags([15, 10, 10], [(call, 1, 3)]) == [False] * 3


def test_first_calls_inside_each_other_count_once():
    calls = [("cuModuleLoad", 1, 3), ("cuModuleLoadData", 1, 3)]
    assert flags([15, 10, 10], calls) == [False] * 3


def test_first_calls_in_a_later_step_do_not_make_it_start_up():
    assert flags([10, 40, 10, 10], [("cuModuleLoad", 12, 48)]) == [False] * 4


def test_short_first_steps_under_a_busy_device_only_fill_its_queue():
    assert flags([2, 3, 10, 10, 10], busy=[(0, 35)]) == [True, True, False, False, False]
    assert flags([2, 3, 10, 10, 10], busy=[(0, 20)]) == [False] * 5


def test_the_last_step_is_never_start_up_unless_it_is_the_only_one():
    assert flags([400, 100, 10]) == [True, True, False]
    assert flags([10], [("cuModuleLoad", 0, 6)]) == [True]
    assert flags([10], [("cuModuleLoad", 0, 4)]) == [False]


def test_no_steps():
    assert len(startup.mark(empty(tables.STEPS), host_of(), device_of())) == 0


def test_many_steps_and_many_first_calls_take_no_product_of_both():
    count = 20_000
    calls = [("cuModuleLoad", n, n + 1) for n in range(count)]
    assert flags([10] * count, calls)[1:] == [False] * (count - 1)


def collectives(*lengths_ms):
    """A trace that asks for a collective so often, and waits for its device each time."""
    trace = TraceBuilder(Setup(rank=0, world_size=2, gpus=(A100,)))
    for length in lengths_ms:
        with trace.op("c10d::allreduce_"):
            trace.pause(int(length * MS))
        trace.pause(5 * MS)
    return trace


def test_a_first_collective_that_takes_far_longer_to_ask_for_sets_its_group_up(tmp_path):
    def first_ms(*lengths):
        (made,) = load([collectives(*lengths).write(tmp_path / f"{len(lengths)}.json")])
        return iv.total(startup.first_calls(made)) / MS

    assert first_ms(400, 0.1, 0.2, 0.1) == pytest.approx(400, rel=0.01)
    assert first_ms(400, 390, 410) == 0, "all are long"
    assert first_ms(0.9, 0.01) == 0, "too short to matter"
    assert first_ms(400) == 0, "with one alone nobody can tell"
