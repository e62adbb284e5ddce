"""Fake file trees of the kernel."""

from pathlib import Path


def write(root: Path, files: dict[str, str]) -> Path:
    """Writes files under a root, with the folders that they need."""
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


SLURM_V2 = {
    "/proc/self/cgroup": "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n",
    "/proc/self/mountinfo": "24 1 0:22 / /proc rw shared:1 - proc proc rw\n"
    "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
    "/sys/fs/cgroup/cgroup.controllers": "cpu memory io\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/memory.max": "8589934592\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/memory.current": "4000000000\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/memory.peak": "7000000000\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/memory.events": "low 0\nhigh 3\nmax 5\noom 1\noom_kill 1\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/cpu.max": "400000 100000\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/memory.max": "max\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/memory.max": "max\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/memory.max": "max\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/memory.current": "5\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/cpu.max": "max 100000\n",
    "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/cpu.stat": "usage_usec 10\nnr_throttled 2\nthrottled_usec 1500\n",
}
"""What Slurm's cgroup/v2 plugin makes: the limits stand at the job, the process four levels below."""

V1 = {
    "/proc/self/cgroup": "5:memory:/slurm/uid_0/job_7\n4:cpu,cpuacct:/slurm/uid_0/job_7\n0::/\n",
    "/proc/self/mountinfo": "30 1 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "31 1 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "32 1 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
    "/sys/fs/cgroup/unified/cgroup.controllers": "hugetlb\n",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "/sys/fs/cgroup/memory/slurm/uid_0/memory.limit_in_bytes": "9223372036854771712\n",
    "/sys/fs/cgroup/memory/slurm/uid_0/job_7/memory.limit_in_bytes": "4294967296\n",
    "/sys/fs/cgroup/memory/slurm/uid_0/job_7/memory.usage_in_bytes": "1000\n",
    "/sys/fs/cgroup/memory/slurm/uid_0/job_7/memory.max_usage_in_bytes": "2000\n",
    "/sys/fs/cgroup/memory/slurm/uid_0/job_7/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
    "/sys/fs/cgroup/cpu,cpuacct/slurm/uid_0/job_7/cpu.cfs_quota_us": "250000\n",
    "/sys/fs/cgroup/cpu,cpuacct/slurm/uid_0/job_7/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/cpu,cpuacct/slurm/uid_0/job_7/cpu.stat": "nr_periods 5\nnr_throttled 1\nthrottled_time 3000000\n",
}
"""Both versions mounted, the controllers on v1, as on many clusters."""
