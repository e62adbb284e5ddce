"""What is easily blamed on something else: work after the step, validation, the loss function, tiny steps."""

from __future__ import annotations

import os
import sys

import pytest

from stepscope import api
from tests.record.running import finish, profiled, start

pytestmark = [pytest.mark.slow, pytest.mark.alone]
COUNTS = ("--warmup", "3", "--clean", "4", "--active", "5")


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """The report of a probe, which is run once."""
    known = {}

    def report(kind):
        if kind not in known:
            folder = tmp_path_factory.mktemp(kind) / "run"
            ended = profiled(folder, "probes.py", kind, options=COUNTS)
            assert ended.status == 0, ended.stderr
            known[kind] = api.analyze([folder])
        return known[kind]

    return report


def line_of(report, part):
    return next(row for row in report.ranks[0].lines.rows if row.part == part and row.samples > 1)


def test_work_after_the_step_is_the_programs_own_and_its_line_is_named(reported):
    report = reported("after")
    assert report.verdict.regime == "host"
    (first, *_) = report.findings
    assert first.code == "HO001"
    named = {one.name: one.value for one in first.evidence}
    assert "work after the step" in named["line that holds most of it"]
    # The sleep alone, whatever else the step does.
    assert report.ranks[0].steady_parts_ms["other"] >= 50


def test_a_slow_validation_loader_is_not_billed_to_training(reported):
    report = reported("validation")
    training, validation = sorted(report.loaders, key=lambda loader: loader.number)
    assert (training.role, validation.role) == ("training", "evaluation")
    assert validation.wait_ms >= 3 * 8 * 20
    assert report.recording.run.parts_ms["evaluation"] >= 3 * 8 * 20
    assert report.recording.run.evaluations == 3
    assert report.verdict.regime != "input"
    assert not {finding.code for finding in report.findings} & {"IN001", "IN002"}


def test_a_costly_loss_is_forward_and_backward_and_its_line_is_named(reported):
    report = reported("loss")
    parts = report.ranks[0].steady_parts_ms
    assert parts["forward"] + parts["backward"] > 0.5 * sum(parts.values())
    assert "the costly loss" in line_of(report, "forward").text
    assert report.verdict.regime not in ("input", "host")


def test_tiny_steps_are_not_blamed_on_anything_and_our_own_cost_is_told(reported):
    report = reported("tiny")
    assert report.verdict.regime != "input"
    run = report.recording.run
    assert run.parts_ms["evaluation"] == run.parts_ms["checkpoint"] == 0
    assert report.recording.own_cost_ms > 0
    assert report.recording.own_cost_ms < run.parts_ms["steps"] + run.parts_ms["stepscope"]


def test_a_rank_that_is_slow_in_backward_is_named(tmp_path):
    folder = tmp_path / "run"
    own = ("-m", "stepscope", "profile", "--no-analyze", "--out", folder, *COUNTS, "--")
    launch = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", 2, "slow_rank.py")
    ended = finish(start([*own, *launch], env={**os.environ, "OMP_NUM_THREADS": "1"}), folder)
    assert ended.status == 0, ended.stderr
    (finding,) = [one for one in api.analyze([folder]).findings if one.code == "SG001"]
    assert finding.rank == 1
    assert "backward pass" in finding.action
