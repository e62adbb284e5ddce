"""Cores that may be used: the smallest of affinity and all quotas on the way up."""

from __future__ import annotations

import os

import pytest

from stepscope.trace.cores import usable_cores


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine of 16 cores with made control groups; returns the reading of it."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    groups, membership = tmp_path / "cgroup", tmp_path / "self"

    def cores(member="", **files):
        for name, text in files.items():
            path = groups / name.replace("__", "/").replace("_max", ".max").replace(
                "cfs", "cpu.cfs"
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        membership.write_text(member)
        return usable_cores(groups, membership)

    return cores


def test_without_groups_the_affinity_counts(machine):
    assert machine() == 16


def test_the_quota_of_the_own_group(machine):
    assert machine("0::/job/task\n", job__task__cpu_max="400000 100000\n") == 4


def test_the_quota_of_a_group_above(machine):
    quotas = {"job__cpu_max": "200000 100000", "job__task__cpu_max": "max 100000"}
    assert machine("0::/job/task\n", **quotas) == 2


def test_a_container_that_sees_its_group_as_the_root(machine):
    assert machine("0::/somewhere/else\n", cpu_max="300000 100000") == 3


def test_less_than_a_core_is_one(machine):
    assert machine("0::/\n", cpu_max="10000 100000") == 1


def test_the_first_version_of_control_groups(machine):
    files = {"cpu__job__cfs_quota_us": "500000\n", "cpu__job__cfs_period_us": "100000\n"}
    assert machine("4:cpu,cpuacct:/job\n2:memory:/job\n", **files) == 5
    files["cpu__job__cfs_quota_us"] = "-1\n"
    assert machine("4:cpu,cpuacct:/job\n", **files) == 16


def test_where_there_is_no_affinity_the_machine_counts(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert usable_cores(tmp_path, tmp_path / "none") == 7


def test_here():
    assert usable_cores() >= 1
