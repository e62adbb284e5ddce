"""Where the whole run goes, beside what the program's own clocks say."""

import pytest

from stepscope import api
from stepscope.schema.run_time import RUN_PARTS
from tests.record.running import plain, profiled

pytestmark = [pytest.mark.slow, pytest.mark.alone]
COUNTS = ("--warmup", "2", "--clean", "4", "--active", "3")


def clocks_of(ended):
    line = next(line for line in ended.stderr.splitlines() if line.startswith("startup="))
    return {name: float(text) for name, _, text in (word.partition("=") for word in line.split())}


@pytest.fixture(
    scope="module", params=[("--logging", "0.03"), ("--loss", "0.03"), ("--with-grad",)]
)
def whole(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    return request.param, profiled(folder, "whole_run.py", *request.param, options=COUNTS)


def test_the_parts_are_those_of_the_programs_own_clocks(whole):
    options, ended = whole
    clocks, time = clocks_of(ended), ended.recording.run_time
    assert sum(getattr(time, f"{part}_ns") for part in RUN_PARTS) == time.wall_ns
    assert time.wall_ns / 1e9 == pytest.approx(clocks["wall"], 0.1)
    assert time.checkpoint_ns / 1e9 == pytest.approx(clocks["checkpoint"], 0.1, 0.02)
    # With gradients on, an evaluation before training looks like training.
    evaluated = clocks["evaluation"] * (0.8 if options == ("--with-grad",) else 1)
    assert time.evaluation_ns / 1e9 == pytest.approx(evaluated, 0.2, 0.05)
    assert time.exit_ns / 1e9 >= clocks["exit"]
    assert time.between_ns >= 50_000_000
    assert 0 < time.import_ns < time.startup_ns
    assert time.checkpoints == 2


def test_the_loaders_are_told_apart(whole):
    _, ended = whole
    roles = {use.role: use for use in ended.recording.loaders}
    assert set(roles) == {"training", "evaluation"}
    assert (roles["training"].batches, roles["training"].epochs) == (40, 2)
    assert (roles["evaluation"].batches, roles["evaluation"].epochs) == (10, 5)
    assert roles["evaluation"].wait_ns > roles["training"].wait_ns


def test_what_comes_after_the_step_is_part_of_the_next_one_and_not_blamed_on_the_loader(whole):
    options, ended = whole
    report = api.analyze([ended.folder])
    if options[0] in ("--logging", "--loss"):
        assert report.verdict.regime != "input"
        assert "IN001" not in {finding.code for finding in report.findings}
        rank = report.ranks[0]
        assert rank.parts_ms["other"] >= 25
        assert rank.steps.mean_ms >= 30


def test_a_step_with_an_evaluation_in_it_is_neither_clean_nor_profiled(whole):
    _, ended = whole
    apart = [row for row in ended.run.ranks[0].steps if row.kind == "disturbed"]
    assert apart
    assert max(ended.recording.clean_steps_ns) < min(row.duration_ns for row in apart)


def test_the_report_tells_it(whole):
    _, ended = whole
    report = api.analyze([ended.folder])
    assert report.recording is not None
    run = report.recording.run
    assert run is not None
    assert sum(run.parts_ms.values()) == pytest.approx(run.wall_ms)
    assert run.evaluations in (4, 5)


def test_the_script_prints_the_same(whole):
    options, ended = whole
    assert ended.stdout == plain("whole_run.py", *options).stdout
