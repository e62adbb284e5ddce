"""Ranks read on nodes of a real Slurm, as jobs of their own."""

from __future__ import annotations

import sys

import pytest
from msgspec.structs import replace

from stepscope import analyze
from stepscope.report import saved
from tests.job.made import Made, write

pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
pytestmark = pytest.mark.slow

SMALL = {"DASK_JOBQUEUE__SLURM__CORES": "1", "DASK_JOBQUEUE__SLURM__MEMORY": "1GB"}
"""Dask's own way of asking for less than whole nodes."""


def analysed(cluster, folder, *options, environment):
    return cluster.run(
        sys.executable, "-m", "stepscope", "analyze", "traces", "--no-text", *options,
        cwd=folder, seconds=240, environment={**cluster.environ, **environment},
    )  # fmt: skip


def test_two_nodes_give_the_same_report_and_leave_no_job(cluster, tmp_path):
    here = analyze([write(Made(4, slow=(1,), kind="host", steps=3), tmp_path / "traces")])
    run = analysed(cluster, tmp_path, "--slurm-nodes=2", "--json=there.json", environment=SMALL)
    assert run.returncode == 0, run.stderr
    there = saved.load(tmp_path / "there.json")
    assert (there.job, there.findings, there.ranks) == (here.job, here.findings, _below(here.ranks))
    told = cluster.run("squeue", "--noheader", "--name=dask-worker", "--states=PENDING,RUNNING")
    assert told.stdout == ""
    assert not list(tmp_path.glob("slurm-*"))


def test_nodes_that_slurm_refuses_are_one_sentence(cluster, tmp_path):
    write(Made(2, steps=2), tmp_path / "traces")
    run = analysed(cluster, tmp_path, "--slurm-nodes=1", environment={"SBATCH_PARTITION": "absent"})
    assert run.returncode == 2
    assert "stepscope: Slurm refuses the job: sbatch: error: invalid partition" in run.stderr
    assert "Traceback" not in run.stderr


def _below(ranks):
    """As files are called from the folder above theirs."""
    return tuple(
        replace(one, files=tuple(f"traces/{file.rpartition('/')[2]}" for file in one.files))
        for one in ranks
    )
