"""What a process may use."""

import os

import pytest

from stepscope.watch import allocation
from stepscope.watch.allocation import affinity_of, read_allocation
from stepscope.watch.slurm_job import gpus_on_node, memory_on_node, slurm_job
from tests.watch.trees import SLURM_V2, write

STEP = {
    "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_CLUSTER_NAME": "steptest",
    "SLURM_JOB_PARTITION": "gpu", "SLURMD_NODENAME": "node1", "SLURM_JOB_NUM_NODES": "2",
    "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "1", "SLURM_NODEID": "1",
    "SLURM_PROCID": "3", "SLURM_CPUS_ON_NODE": "2", "SLURM_MEM_PER_CPU": "256",
    "SLURM_STEP_GPUS": "0,1", "SLURM_STEP_TASKS_PER_NODE": "2(x2)",
}  # fmt: skip


def test_a_step_s_environment():
    job = slurm_job(STEP)
    assert job is not None
    assert (job.job_id, job.step_id, job.node, job.nodes, job.tasks) == ("7", "0", "node1", 2, 4)
    assert (job.local_id, job.node_id, job.process_id) == (1, 1, 3)
    assert (job.cores_on_node, job.memory_mib, job.gpus_on_node) == (2, 512, 2)


def test_outside_slurm_there_is_no_job():
    assert slurm_job({"PATH": "/bin"}) is None


@pytest.mark.parametrize(
    ("environ", "gpus"),
    [
        ({"SLURM_GPUS_ON_NODE": "4"}, 4),
        ({"SLURM_JOB_GPUS": "0,3"}, 2),
        ({"SLURM_JOB_GPUS": "", "SLURM_STEP_GPUS": "1"}, 1),
        ({}, None),
    ],
)
def test_devices_of_the_job(environ, gpus):
    assert gpus_on_node(environ) == gpus


def test_memory_by_node_goes_before_memory_by_core():
    assert memory_on_node({"SLURM_MEM_PER_NODE": "1000", "SLURM_MEM_PER_CPU": "1"}) == 1000
    assert memory_on_node({"SLURM_MEM_PER_CPU": "256"}) is None


def test_a_quota_below_the_affinity_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(allocation, "affinity_of", lambda _pid, _machine: 16)
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    seen = read_allocation({}, root=write(tmp_path, SLURM_V2))
    assert (seen.cores, seen.cores_from) == (4.0, "cgroup quota")
    assert seen.memory_limit_bytes == 8 << 30


def test_a_job_that_nothing_confines_still_has_only_its_share(tmp_path, monkeypatch):
    monkeypatch.setattr(allocation, "affinity_of", lambda _pid, _machine: 16)
    seen = read_allocation(STEP, root=tmp_path)
    assert (seen.cores, seen.cores_from, seen.affinity) == (2.0, "Slurm", 16)


def test_an_affinity_below_the_quota_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(allocation, "affinity_of", lambda _pid, _machine: 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    seen = read_allocation({}, root=write(tmp_path, SLURM_V2))
    assert (seen.cores, seen.cores_from, seen.slurm) == (1.0, "affinity", None)


def test_hidden_devices_are_told():
    assert read_allocation({"CUDA_VISIBLE_DEVICES": "1"}).visible_devices == "1"
    assert read_allocation({"ROCR_VISIBLE_DEVICES": ""}).visible_devices == ""
    assert read_allocation({}).visible_devices is None


def test_the_affinity_of_a_process_that_has_gone_is_the_machine_s():
    assert affinity_of(2**22 + 1, 64) == 64
