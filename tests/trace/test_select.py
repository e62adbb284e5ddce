"""A trace cut to some of its steps: every table cut to their time, row numbers moved along."""

import pytest

from stepscope.errors import OptionError
from stepscope.testing.builder import TraceBuilder
from stepscope.trace import load
from stepscope.trace.select import select_steps


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    builder = TraceBuilder()
    for number in range(5):
        with builder.step(number + 10):
            with builder.op("aten::mm"):
                builder.launch(f"kernel_{number}", 200_000)
            builder.synchronize()
        builder.pause(10_000)
    return load([builder.write(tmp_path_factory.mktemp("select") / "trace.json")])[0]


def test_only_the_chosen_steps_remain(trace):
    cut = select_steps(trace, 11, 13)
    assert cut.steps["number"].to_list() == [11, 12]
    assert cut.device["name"].cast(str).to_list() == ["kernel_1", "kernel_2"]
    assert (cut.host["end_ns"] > cut.windows[0].start_ns).all()
    assert cut.windows[0].end_ns == cut.steps["end_ns"].max()


def test_links_point_to_the_same_events_as_before(trace):
    cut = select_steps(trace, 11, 13)
    for row in cut.device.iter_rows(named=True):
        assert str(cut.host.item(row["operator"], "name")) == "aten::mm"
        assert cut.host.item(row["launch"], "correlation") == row["correlation"]
    for row in cut.host.iter_rows(named=True):
        if row["parent"] is not None:
            parent = cut.host.row(row["parent"], named=True)
            assert parent["depth"] == row["depth"] - 1
            assert parent["start_ns"] <= row["start_ns"]


def test_open_bounds_take_everything(trace):
    assert select_steps(trace, None, None).steps.equals(trace.steps)
    assert select_steps(trace, 13, None).steps["number"].to_list() == [13, 14]


def test_steps_that_are_not_there_are_refused_with_what_is_there(trace):
    with pytest.raises(OptionError, match="steps 10 to 14 are there"):
        select_steps(trace, 20, 30)
