"""Ranks worked off on a Dask cluster, one worker of which is lost."""

from __future__ import annotations

import os
import signal
import time

import pytest

from stepscope import analyze
from stepscope.errors import InputError, MissingExtraError
from stepscope.job.workers import Cluster, Processes
from tests.job.made import Made, write


def doubled(number):
    return 2 * number


def slowly(number):
    time.sleep(0.5)
    return 2 * number


def test_processes_give_results_in_order():
    assert Processes(1).work_off(doubled, [3, 1]) == [6, 2]


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"stepscope\[distributed\]"):
        Cluster("tcp://127.0.0.1:1").work_off(doubled, [1])


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_lost_worker_is_survived(cluster):
    victim = next(iter(cluster.workers.values())).pid

    def kill_once(done):
        if done == 2:
            os.kill(victim, signal.SIGKILL)

    found = Cluster(cluster.scheduler_address).work_off(slowly, list(range(10)), kill_once)
    assert found == [2 * number for number in range(10)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_cluster_gives_the_same_report(cluster, tmp_path):
    folder = write(Made(4, slow=(1,), kind="host"), tmp_path)
    here, there = analyze([folder]), analyze([folder], jobs=cluster.scheduler_address)
    assert (there.job, there.findings, there.ranks) == (here.job, here.findings, here.ranks)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_worker_lost_in_the_middle_changes_nothing_in_the_report(cluster, tmp_path):
    folder = write(Made(24, slow=(5,), kind="input", steps=3), tmp_path)
    victim = next(iter(cluster.workers.values())).pid

    def kill_once(done, total, _path):
        if done == total // 2:
            os.kill(victim, signal.SIGKILL)

    here = analyze([folder])
    there = analyze([folder], jobs=cluster.scheduler_address, progress=kill_once)
    assert (there.job, there.findings, there.ranks) == (here.job, here.findings, here.ranks)
    assert there.health == here.health


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_said(monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("stepscope.job.workers.CONNECT_S", 1)
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        Cluster("tcp://127.0.0.1:1").work_off(doubled, [1])
