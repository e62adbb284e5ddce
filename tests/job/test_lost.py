"""Ranks that died, or left nothing, are said once the job has ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stepscope.job.lost import lost_ranks
from stepscope.record.journal import Journal
from stepscope.schema.run_folder import load_run, write_document
from tests.record.test_journal import RECORDING


@pytest.fixture
def job(tmp_path):
    """Writes a run folder: what each rank left, and whether rank 0 came to its end."""

    def make(*, complete, world, ended=True):
        first = Journal(tmp_path, ("train.py",), rank=0)
        for rank in complete:
            journal = first if rank == 0 else Journal(tmp_path, ("train.py",), rank=rank)
            for number in range(3):
                journal.step(number, "clean", number * 100, 50, 0)
            journal.flush()
            whole = complete[rank]
            if whole is not None:
                journal.recording(replace(RECORDING, rank=rank, world_size=world, complete=whole))
        if ended:
            first.finish(0)
        return load_run(tmp_path)

    return make


def test_nothing_is_said_when_all_have_finished(job):
    assert lost_ranks(job(complete={0: True, 1: True}, world=2)) == []


def test_a_rank_that_died_is_said_with_how_far_it_came(job, tmp_path):
    (tmp_path / "rank1").mkdir()
    (tmp_path / "rank1" / "trace-1.pt.trace.json.gz").touch()
    (notice,) = lost_ranks(job(complete={0: True, 1: False}, world=2))
    assert (notice.code, notice.rank) == ("rank-died", 1)
    assert "after 3 recorded steps" in notice.text
    assert "is analysed" in notice.text


def test_a_rank_that_left_no_trace_and_one_that_left_nothing_are_said(job):
    died, absent = lost_ranks(job(complete={0: True, 1: None}, world=4))
    assert (died.code, died.rank) == ("rank-died", 1)
    assert "no trace" in died.text
    assert (absent.code, absent.count) == ("rank-absent", 2)
    assert "2, 3 of 4" in absent.text


def test_the_first_rank_may_be_the_one_that_died(job):
    (notice,) = lost_ranks(job(complete={0: False, 1: True}, world=2, ended=False))
    assert notice.rank == 0


def test_a_job_that_runs_has_lost_nobody(job, tmp_path):
    assert lost_ranks(job(complete={0: False, 1: False}, world=2, ended=False)) == []
    write_document(tmp_path / "rank0" / "recording.json", replace(RECORDING, rank=0))
    assert lost_ranks(load_run(tmp_path)) != []
