"""Control groups on fake trees of both versions, and on the real one here."""

from pathlib import Path

import pytest

from stepscope.schema.allocation import CgroupLimits
from stepscope.watch.cgroup import read_limits
from tests.watch.trees import SLURM_V2, V1, write


def test_v2_takes_the_smallest_limit_on_the_way_up(tmp_path):
    assert read_limits(root=write(tmp_path, SLURM_V2)) == CgroupLimits(
        version="v2",
        path="/system.slice/slurmstepd.scope/job_7/step_0/user/task_0",
        memory_limit_bytes=8 << 30,
        memory_bytes=4_000_000_000,
        memory_peak_bytes=7_000_000_000,
        oom_kills=1,
        held_back=3,
        cpu_quota=4.0,
        throttled_us=1500,
    )


def test_v1_beside_an_empty_v2(tmp_path):
    assert read_limits(root=write(tmp_path, V1)) == CgroupLimits(
        version="v1",
        path="/slurm/uid_0/job_7",
        memory_limit_bytes=4 << 30,
        memory_bytes=1000,
        memory_peak_bytes=2000,
        oom_kills=0,
        cpu_quota=2.5,
        throttled_us=3000,
    )


def test_a_step_may_be_tighter_than_its_job(tmp_path):
    step = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0"
    tree = write(tmp_path, {**SLURM_V2, f"{step}/memory.max": "1000", f"{step}/memory.peak": "900"})
    limits = read_limits(root=tree)
    assert (limits.memory_limit_bytes, limits.memory_peak_bytes) == (1000, 900)


def test_seen_from_a_container_the_mount_is_the_group(tmp_path):
    tree = {
        "/proc/self/cgroup": "0::/../../docker/abc\n",
        "/proc/self/mountinfo": "30 1 0:26 /kubepods/pod1 /sys/fs/cgroup ro - cgroup2 cgroup ro\n",
        "/sys/fs/cgroup/memory.max": "1048576\n",
        "/sys/fs/cgroup/memory.current": "5\n",
        "/sys/fs/cgroup/cpu.max": "50000 100000\n",
    }
    limits = read_limits(root=write(tmp_path, tree))
    assert (limits.memory_limit_bytes, limits.cpu_quota) == (1 << 20, 0.5)


def test_a_mount_point_with_blanks(tmp_path):
    tree = {
        "/proc/self/cgroup": "0::/\n",
        "/proc/self/mountinfo": "30 1 0:26 / /sys/my\\040groups rw - cgroup2 cgroup2 rw\n",
        "/sys/my groups/memory.max": "77\n",
    }
    assert read_limits(root=write(tmp_path, tree)).memory_limit_bytes == 77


def test_the_root_group_has_no_limit(tmp_path):
    tree = {
        "/proc/self/cgroup": "0::/\n",
        "/proc/self/mountinfo": "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        "/sys/fs/cgroup/cgroup.controllers": "cpu\n",
    }
    limits = read_limits(root=write(tmp_path, tree))
    assert limits == CgroupLimits(version="v2", path="/")


@pytest.mark.parametrize("files", [{}, {"/proc/self/cgroup": "garbage\n"}])
def test_nothing_to_read_is_no_group(tmp_path, files):
    assert read_limits(root=write(tmp_path, files)) == CgroupLimits(version="none")


def test_the_real_tree_here_is_read():
    if not Path("/proc/self/cgroup").exists():
        pytest.skip("this system has no control groups")
    limits = read_limits()
    assert limits.version in {"v1", "v2", "none"}
    if limits.version != "none":
        assert limits.path.startswith("/")
    if limits.memory_bytes is not None:
        assert limits.memory_bytes > 0
