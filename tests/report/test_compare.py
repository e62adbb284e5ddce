import io
import re

import msgspec
import pytest
from msgspec.structs import replace

from stepscope.report.compare import compare
from stepscope.report.compare_rows import kernel_changes, operator_changes
from stepscope.report.compare_text import print_comparison
from stepscope.report.compare_words import sentence, to_json
from stepscope.schema.report import Recording
from tests.known import known
from tests.report import examples


def with_steps(durations, report=None, **changes):
    """An example whose only rank has these steps."""
    report = report or examples.input_bound()
    rank = examples.gpu_rank(durations=tuple(durations), **changes)
    return replace(report, ranks=(rank,), recording=None)


V100_BEFORE = (159.363, 149.046, 148.659, 151.733, 153.205, 155.725)
V100_AFTER = (181.565, 123.884, 126.824, 126.272, 163.461, 116.146)
STEADY = tuple(100.0 + (i * 7) % 5 for i in range(24))


@pytest.fixture
def v100():
    """The pair of which the public truth is known: 0 and 4 loader workers."""
    after = with_steps(V100_AFTER, shares={"input": 0.01, "host": 0.2})
    after = replace(after, ranks=(replace(after.ranks[0], loader_wait_ms=8.522),), findings=())
    before = with_steps(V100_BEFORE)
    before = replace(before, ranks=(replace(before.ranks[0], loader_wait_ms=272.769),))
    return compare(with_tail(before, 10.780), with_tail(after, 7.441))


def with_tail(report, ms):
    """The report with so much work of the device behind the last step."""
    rank = report.ranks[0]
    return replace(report, ranks=(replace(rank, gpu=replace(rank.gpu, tail_ms=ms)),))


def text(comparison, width=80):
    file = io.StringIO()
    print_comparison(comparison, file=file, width=width)
    return " ".join(file.getvalue().split())


def test_six_steps_a_side_do_not_prove_it(v100):
    assert v100.verdict == "unproven"
    assert not v100.certain
    assert v100.ratio.median == pytest.approx(1.205, abs=1e-3)
    assert v100.ratio.mean == pytest.approx(1.098, abs=1e-3)
    shown = text(v100)
    assert "1.20x by medians" in shown
    assert "1.10x by means" in shown
    assert "six steps a side do not prove it" in shown


def test_the_slow_steps_that_hold_the_mean_up_are_named(v100):
    assert v100.before.slow == ()
    assert [step.number for step in v100.after.slow] == [1, 5]
    assert "2 slow steps: step 1 (182 ms, 1.43x the median), step 5 (163 ms, 1.29x the median)" in (
        text(v100)
    )


def test_where_batches_come_in_bunches_means_count():
    """One worker in two is ready: the median says 4x, the run takes half as long."""
    even, bunched = (20.0,) * 40, (2.0, 2.0, 2.0, 34.0) * 10
    comparison = compare(with_tail(with_steps(even), 0.0), with_tail(with_steps(bunched), 0.0))
    assert known(comparison.ratio).by == "means"
    ratio = known(comparison.ratio)
    assert ratio.headline == ratio.mean == pytest.approx(2.0)
    assert comparison.verdict == "faster"
    shown = text(comparison)
    assert "2.00x by means (20.0 ms to 10.0 ms a step), 10.00x by medians" in shown
    assert "for the ratio of means" in shown
    assert msgspec.json.decode(to_json(comparison))["by"] == "means"


def test_two_halves_of_a_bunched_run_do_not_differ():
    series = tuple(3.0 + i % 5 + (30 if i % 4 == 3 else 0) for i in range(48))
    comparison = compare(with_steps(series[:24]), with_steps(series[24:]))
    assert known(comparison.ratio).by == "means"
    assert comparison.verdict == "same"


def test_the_loader_wait_is_per_step(v100):
    assert "from 45.5 ms to 1.42 ms a step" in text(v100)


def test_parts_sum_to_the_difference_of_the_means(v100):
    assert sum(v100.parts_delta_ms.values()) == pytest.approx(139.692 - 152.955, abs=1e-3)
    assert v100.parts_delta_ms["input"] < -40


def test_two_halves_of_one_run_do_not_differ():
    comparison = compare(with_steps(STEADY[:12]), with_steps(STEADY[12:]))
    assert comparison.verdict == "same"
    assert not comparison.certain
    assert text(comparison).startswith("NO REAL DIFFERENCE: 1.00x by medians")


@pytest.mark.parametrize(("scale", "verdict"), [(0.7, "faster"), (1.3, "slower")])
def test_a_clear_difference_is_certain(scale, verdict):
    comparison = compare(with_steps(STEADY), with_steps(ms * scale for ms in STEADY))
    assert comparison.verdict == verdict
    assert comparison.certain
    assert comparison.ratio is not None
    assert comparison.ratio.interval is not None
    assert comparison.ratio.interval[0] < 1 / scale < comparison.ratio.interval[1]
    assert text(comparison).startswith(f"{verdict.upper()}: {1 / scale:.2f}x by medians")


def test_startup_and_cut_steps_are_left_out():
    before = with_steps((5000.0, *STEADY), startup=1)
    assert compare(before, with_steps(STEADY)).before.steps == 24
    rank = before.ranks[0]
    cut = replace(rank, steps=replace(rank.steps, partial=(False,) * 24 + (True,)))
    assert compare(replace(before, ranks=(cut,)), with_steps(STEADY)).before.steps == 23


def test_steps_without_the_profiler_are_preferred():
    recording = Recording(
        command=("train.py",),
        exit_status=0,
        clean_steps=24,
        clean_step_ms=80.0,
        profiled_step_ms=100.0,
        inflation_frac=0.25,
        own_cost_ms=None,
        stop_ms=None,
        clean_durations_ms=tuple(ms * 0.8 for ms in STEADY),
    )
    before = replace(with_steps(STEADY), recording=recording)
    faster = replace(recording, clean_durations_ms=tuple(ms * 0.4 for ms in STEADY))
    after = replace(with_steps(STEADY), recording=faster)
    comparison = compare(before, after)
    assert comparison.ratio is not None
    assert comparison.ratio.median == pytest.approx(2.0)
    assert "24 steps without the profiler, median 81.6 ms" in text(comparison)
    assert compare(before, with_steps(STEADY)).verdict == "same"


def test_the_slowest_rank_stands_for_the_job():
    report = examples.many_ranks(4)
    slow = replace(report.ranks[2], steps=examples.steps((300.0, 301.0, 302.0)))
    ranks = (*report.ranks[:2], slow, report.ranks[3])
    assert compare(replace(report, ranks=ranks), report).before.median_ms == 301.0


def test_windows_can_be_held_against_each_other_but_prove_nothing():
    comparison = compare(examples.nothing_recorded(), examples.nothing_recorded())
    assert comparison.verdict == "same"
    assert comparison.ratio is not None
    assert comparison.ratio.interval is None
    assert "windows without steps prove nothing about a step" in text(comparison)


def test_steps_and_a_window_are_not_comparable():
    comparison = compare(examples.input_bound(), examples.nothing_recorded())
    assert comparison.verdict == "not-comparable"
    assert comparison.ratio is None
    assert comparison.parts_delta_ms is None
    assert "cannot be held against each other" in text(comparison)


def test_what_appeared_vanished_or_changed():
    report = examples.input_bound()
    after = replace(
        report,
        kernels=(
            replace(report.kernels[0], total_ms=report.kernels[0].total_ms / 2),
            replace(report.kernels[1], name="flash_fwd_kernel"),
            *report.kernels[2:],
        ),
        operators=(replace(report.operators[0], self_ms=500.0), *report.operators[1:]),
    )
    changes = {change.name: change for change in kernel_changes(report, after)}
    assert set(changes) == {report.kernels[0].name, report.kernels[1].name, "flash_fwd_kernel"}
    assert changes["flash_fwd_kernel"].fate == "appeared"
    assert changes[report.kernels[1].name].fate == "vanished"
    first = changes[report.kernels[0].name]
    assert first.fate == "changed"
    assert first.before_ms == pytest.approx(report.kernels[0].total_ms / 6)
    assert first.delta_ms == pytest.approx(-first.before_ms / 2)
    assert first.before_count == first.after_count == 3
    assert [change.name for change in operator_changes(report, after)] == [report.operators[0].name]
    assert "flash_fwd_kernel" in text(compare(report, after))


def test_times_are_per_step_so_that_runs_of_any_length_compare():
    report = examples.input_bound()
    longer = replace(
        report,
        ranks=(examples.gpu_rank(durations=report.ranks[0].steps.durations_ms * 2),),
        kernels=tuple(
            replace(k, total_ms=2 * k.total_ms, count=2 * k.count) for k in report.kernels
        ),
        operators=tuple(replace(o, self_ms=2 * o.self_ms) for o in report.operators),
    )
    assert kernel_changes(report, longer) == ()
    assert operator_changes(report, longer) == ()


@pytest.mark.parametrize(("scale", "held"), [(1.2, True), (1.05, False)])
def test_a_promise_stands_beside_what_came_of_it(scale, held):
    before = with_steps(STEADY)
    after = replace(with_steps(ms / scale for ms in STEADY), findings=())
    comparison = compare(before, after)
    (promise,) = comparison.predictions
    assert promise.code == "IN001"
    assert promise.measured == pytest.approx(scale)
    assert promise.held is held
    shown = text(comparison)
    assert "predicted 1.14x to 1.26x (model of the input pipeline)" in shown
    assert ("inside the range" in shown) is held
    assert [finding.code for finding in comparison.gone] == ["IN001", "CP001"]
    assert compare(after, before).new == before.findings


def test_the_json_has_what_programs_read(v100):
    document = msgspec.json.decode(to_json(v100))
    assert document["verdict"] == "unproven"
    assert document["certain"] is False
    assert document["ratio_median"] == pytest.approx(1.205, abs=1e-3)
    assert document["ratio_mean"] == pytest.approx(1.098, abs=1e-3)
    assert document["interval"] == [
        pytest.approx(v100.ratio.interval[0]),
        pytest.approx(v100.ratio.interval[1]),
    ]
    assert document["parts_delta_ms"] == v100.parts_delta_ms
    assert document["sentence"] == sentence(v100)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_text_keeps_to_its_width_and_to_text(width):
    file = io.StringIO()
    print_comparison(compare(examples.hostile(), examples.with_startup()), file=file, width=width)
    assert "[bold red]" in file.getvalue()
    assert "\x1b" not in file.getvalue()
    assert all(len(line) <= width for line in file.getvalue().splitlines())


@pytest.mark.parametrize("one", examples.ALL)
@pytest.mark.parametrize("other", ["input_bound", "cpu_only", "nothing_recorded"])
def test_any_two_reports_can_be_compared(one, other):
    comparison = compare(examples.ALL[one](), examples.ALL[other]())
    assert not re.search("None|nan", text(comparison))
    assert msgspec.json.decode(to_json(comparison))["verdict"] == comparison.verdict
