"""Slurm nodes as workers, as far as they can be tried without a Slurm."""

from __future__ import annotations

import subprocess

import pytest

from stepscope.errors import MissingExtraError, OptionError
from stepscope.job import slurm
from stepscope.job.slurm import nodes_of, slurm_workers


def test_a_number_of_nodes_is_told_from_an_address():
    assert nodes_of("slurm:4") == 4
    assert nodes_of("tcp://node01:8786") is None
    for wrong in ("slurm:", "slurm:0", "slurm:many"):
        with pytest.raises(OptionError, match="number of nodes"):
            nodes_of(wrong)


def test_without_dask_jobqueue_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "dask_jobqueue", None)
    with pytest.raises(MissingExtraError, match=r"stepscope\[distributed\]"), slurm_workers(1):
        pass


@pytest.mark.parametrize(
    ("told", "size"),
    [
        ("cpu 64 250000\ngpu* 32+ 120000+\ngpu* 48 90000\n", (32, 90000)),
        ("cpu 64 250000\n", (64, 250000)),
    ],
)
def test_a_worker_takes_what_every_node_of_the_default_partition_has(monkeypatch, told, size):
    monkeypatch.setattr(slurm, "_ask", lambda *_: subprocess.CompletedProcess((), 0, told, ""))
    assert slurm._node_size() == size


def test_without_slurm_it_is_said(monkeypatch):
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(OptionError, match="there is no Slurm here"), slurm_workers(1):
        pass
