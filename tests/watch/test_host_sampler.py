"""The sampler of processes and surroundings on a fake tree."""

import pytest

from stepscope.watch.host_sampler import HostSampler
from stepscope.watch.process_tree import PROC, ProcessTree
from stepscope.watch.surroundings import (
    available_bytes,
    node_cpu_s,
    open_network_systems,
    pressure_us,
    shared_memory,
)
from tests.watch.rows import opened, sampled
from tests.watch.test_process_tree import process
from tests.watch.trees import SLURM_V2, write


def test_everything_of_a_job_s_node(tmp_path):
    files = {
        name.replace("/proc/self/cgroup", "/proc/10/cgroup"): text
        for name, text in SLURM_V2.items()
    }
    job = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7"
    full = "some avg10=0.00 avg60=0.00 avg300=0.00 total=900\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=70\n"
    files |= {
        "/proc/stat": "cpu  100 20 30 400 50 6 7 8 0 0\ncpu0 1 2 3\n",
        "/proc/meminfo": "MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:      5 kB\n",
        "/proc/pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=111\n",
        "/proc/pressure/io": full,
        "/proc/pressure/memory": full,
        f"{job}/cpu.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n",
        "/dev/shm/x": "",
    }
    process(write(tmp_path, files) / "proc", 10, own=1)
    sampler = HostSampler(ProcessTree(10, tmp_path / "proc"), 10, tmp_path)
    assert opened(sampler) == ()
    row, one = sampled(sampler, 0.0)
    assert (one.pid, one.name, one.cpu_s, one.threads) == (10, "a ) (b", 1.0, 3)
    assert (row.cpu_s, row.node_cpu_s, row.read_calls) == (1.0, 1.63, 3)
    assert (row.cgroup_bytes, row.oom_kills, row.throttled_us) == (4_000_000_000, 1, 1500)
    assert (row.cpu_pressure_us, row.io_pressure_us, row.memory_pressure_us) == (5, 900, 70)
    assert (row.voluntary_switches, row.held_back, row.swap_bytes) == (4, 3, 6 * 1024)
    assert row.shm_bytes is not None
    assert row.available_bytes == 5 * 1024
    (later,) = sampled(sampler, 0.1)
    assert later.pss_bytes is None, "dear figures are taken less often"
    sampler.close()


def test_a_bare_tree_has_no_surroundings(tmp_path):
    assert pressure_us(tmp_path, "cpu", "some") is None
    assert node_cpu_s(tmp_path) is None
    assert available_bytes(tmp_path) is None
    assert shared_memory(tmp_path / "none") is None
    write(tmp_path, {"proc/stat": "intr 5\n"})
    assert node_cpu_s(tmp_path) is None


def test_open_files_on_a_network_file_system(tmp_path):
    mountinfo = "9 1 0:9 / /scratch rw - lustre dev rw\n8 1 0:8 / / rw - ext4 dev rw\n"
    proc = write(tmp_path, {"self/mountinfo": mountinfo, "10/fd/keep": ""})
    (proc / "10" / "fd" / "3").symlink_to("/scratch/data.bin")
    (proc / "10" / "fd" / "4").symlink_to("/scratchy/other")
    assert open_network_systems(proc, frozenset({10, 11})) == ()
    (proc / "10" / "fd" / "keep").unlink()
    assert open_network_systems(proc, frozenset({10, 11})) == ("lustre",)
    assert (
        open_network_systems(write(tmp_path / "b", {"self/mountinfo": ""}), frozenset({10})) == ()
    )


@pytest.mark.skipif(not PROC.is_dir(), reason="this system has no /proc")
def test_the_real_node_here():
    seconds = node_cpu_s(PROC.parent)
    assert seconds is not None
    assert seconds > 0
