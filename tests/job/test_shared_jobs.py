"""Public traces of several ranks, with the figures that were worked out by hand from their events.

They are not part of the project; STEPSCOPE_TRACES names the folder that holds them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stepscope import analyze
from stepscope.report.job_words import straggler_words
from tests.known import known

FOLDER = Path(os.environ.get("STEPSCOPE_TRACES", "nowhere"))

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="STEPSCOPE_TRACES is not set: the shared real traces were not tried"
)


@pytest.fixture(scope="module")
def llama():
    """Two ranks of tensor parallelism, whose window holds first calls and no steps."""
    return analyze([FOLDER / "rtx4090-llama-tp2"])


def test_rank_1_is_late_at_four_collectives(llama):
    late = llama.job.late
    assert [(row.rank, row.culprit) for row in late] == [(1, 1)] * 4
    assert [row.late_ms for row in late] == pytest.approx([14.8, 12.2, 14.0, 5.3], abs=0.05)
    assert (llama.job.straggler.rank, llama.job.straggler.is_named) == (1, True)
    assert llama.job.straggler.loss_ms == pytest.approx(46.3, abs=0.1)


def test_the_long_all_gather_is_transfer_and_no_waiting(llama):
    (gathers,) = [row for row in llama.job.collectives if row.kind == "all-gather"]
    assert gathers.longest_ms == pytest.approx(441.4, abs=0.1)
    assert gathers.longest_waiting_ms < 0.2
    assert gathers.waiting_ms < 15
    assert "all-gather" not in {row.kind for row in llama.job.late if row.late_ms > 13}


def test_the_late_rank_and_the_transfer_are_two_findings(llama):
    found = {one.code: one for one in llama.findings}
    late, transfer = found["SG001"], found["CM001"]
    assert late.rank == 1
    assert transfer.rank is None
    assert llama.verdict.regime == "communication", "waiting is the smaller of the two by far"
    assert "One all-gather transfers for 441 ms" in transfer.action
    assert "on all ranks alike" in transfer.action
    figures = {one.name: one.value for one in transfer.evidence}
    assert figures["waiting for the last rank, share of time in collectives"] < 0.05
    figures = {one.name: one.value for one in late.evidence}
    assert figures["share of the waiting that the last rank causes"] == 1.0


def test_what_is_first_call_work_is_said(llama):
    assert [row.first_call_ms for row in llama.job.late] == pytest.approx(
        [14.8, 9.6, 0.1, 4.3], abs=0.1
    )
    assert "28.8 ms of its lateness are first calls" in straggler_words(llama.job)
    assert any("First calls" in text for text in llama.job.cannot_tell)
    (late,) = [one for one in llama.findings if one.code == "SG001"]
    assert late.confidence == "low"
    assert "first-call work: record later steps" in late.action
    assert "ST001" in {one.code for one in llama.findings}


def test_one_collective_is_too_few_to_name_a_rank():
    job = known(analyze([FOLDER / "rtx4090-allreduce-2"]).job)
    (row,) = job.late
    assert row.rank == 0
    assert row.late_ms == pytest.approx(11.26, abs=0.1)
    assert job.straggler is not None
    assert not job.straggler.is_named
