"""From results to the report's rows."""

from __future__ import annotations

import pytest

from stepscope.analysis import summary
from stepscope.analysis.results import run_all
from stepscope.schema.report import DEVICE_PARTS, OVERVIEW_PARTS
from tests.analysis.made import device, kernel, op, trace


def example(rank=0, extra=()):
    return trace(
        [op("aten::mm", 0, 60), op("aten::add", 60, 70)],
        [kernel(0, 20), kernel(30, 40, name="add"), *extra],
        steps=[(0, 50), (50, 100)],
        startup=[0],
        rank=rank,
    )


def test_the_rank_report_gives_parts_of_the_mean_step_that_sum_to_it():
    made = example()
    report = summary.rank_report(made, run_all(made))
    assert tuple(report.parts_ms) == DEVICE_PARTS
    assert tuple(report.overview_ms) == OVERVIEW_PARTS
    assert sum(report.parts_ms.values()) == pytest.approx(report.steps.mean_ms)
    assert sum(report.overview_ms.values()) == pytest.approx(0.05)
    assert report.parts_ms["compute"] == pytest.approx(0.015)
    assert report.steady_parts_ms is not None
    assert report.steady_parts_ms["compute"] == 0
    assert [parts["compute"] for parts in report.step_parts_ms] == [pytest.approx(0.03), 0]
    assert report.steps.startup == (True, False)
    assert (report.steps.count, report.steps.source, report.steps.steady_count) == (
        2,
        "profiler-step",
        1,
    )
    assert report.gpu is not None
    assert report.gpu.busy_ms == pytest.approx(0.03)
    assert report.device == "NVIDIA A100"
    assert report.files == ("made",)


def test_the_rank_report_without_steps_or_device():
    made = trace([op("aten::mm", 0, 60)])
    report = summary.rank_report(made, run_all(made))
    assert (report.steps.count, report.steps.source, report.steps.durations_ms) == (
        0,
        "window",
        (0.1,),
    )
    assert report.gpu is None
    assert report.parts_ms["forward"] == pytest.approx(0.06)


def test_without_a_steady_step_there_are_no_steady_figures():
    made = trace([op("a", 0, 9)], steps=[(0, 10)], startup=[0])
    report = summary.rank_report(made, run_all(made))
    assert report.steady_parts_ms is None
    assert report.steps.steady_mean_ms is None


def test_rows_are_summed_over_ranks():
    ranks = [run_all(example(0)), run_all(example(1, [kernel(70, 100, name="add")]))]
    rows = {row.name: row for row in summary.kernel_rows(ranks)}
    assert (rows["add"].count, rows["add"].total_ms) == (3, 0.05)
    assert rows["add"].mean_us == pytest.approx(50 / 3)
    assert sum(row.share for row in rows.values()) == pytest.approx(1)
    operators = summary.operator_rows(ranks)
    assert [(row.name, row.count) for row in operators] == [("aten::mm", 2), ("aten::add", 2)]
    assert operators[0].mean_us == 60


def test_rows_of_nothing():
    nothing = [run_all(trace())]
    assert summary.kernel_rows(nothing) == ()
    assert summary.operator_rows(nothing) == ()


def test_refused_bandwidths_and_skewed_clocks_are_said():
    copy = device("memcpy", "Memcpy HtoD", 0, 1, direction="HtoD", bytes=10**9, is_pageable=False)
    codes = [notice.code for notice in summary.notices(run_all(trace(devices=[copy])))]
    assert codes == ["bandwidth-refused"]
    assert summary.notices(run_all(example())) == ()
