"""What a process may use on this machine, and how we know."""

from __future__ import annotations

from msgspec import Struct


class CgroupLimits(Struct, frozen=True, kw_only=True):
    """Limits and counters of the control groups that a process is in.

    Attributes:
        version: ``v1``, ``v2``, or ``none`` where no group can be read.
        path: The group's path as the kernel tells it; ``""`` without one.
        memory_limit_bytes: The smallest limit on the way up; ``None`` for none.
        memory_bytes: In use in the group that sets the limit, caches included.
        memory_peak_bytes: Most that was in use there.
        oom_kills: Processes that the kernel killed there for want of memory.
        held_back: Times that the kernel held its processes back at the soft limit (v2 only).
        cpu_quota: Cores that the smallest quota on the way up allows; ``None`` for none.
        throttled_us: Time in which the quota stopped the group.
    """

    version: str
    path: str = ""
    memory_limit_bytes: int | None = None
    memory_bytes: int | None = None
    memory_peak_bytes: int | None = None
    oom_kills: int | None = None
    held_back: int | None = None
    cpu_quota: float | None = None
    throttled_us: int | None = None


class SlurmJob(Struct, frozen=True, kw_only=True):
    """What Slurm's environment says of the job that this process is in.

    Attributes:
        job_id: Number of the job.
        step_id: Number of the step; ``None`` in the batch script.
        cluster: Name of the cluster; ``""`` when not given.
        partition: Name of the partition; ``""`` when not given.
        node: Name of this node as Slurm has it; several may share one host.
        nodes: Number of nodes of the job.
        tasks: Number of tasks of the step, or of the job in the batch script.
        local_id, node_id, process_id: Number of this task on its node, of its node, of the task.
        cores_on_node: Cores of the job on this node; ``None`` when not given.
        cores_per_task: As asked for; ``None`` when not asked.
        memory_mib: Memory of the job on this node; ``None`` when not given.
        gpus_on_node: Devices of the job on this node; ``None`` when not given.
    """

    job_id: str
    step_id: str | None
    cluster: str
    partition: str
    node: str
    nodes: int
    tasks: int
    local_id: int | None
    node_id: int | None
    process_id: int | None
    cores_on_node: int | None
    cores_per_task: int | None
    memory_mib: int | None
    gpus_on_node: int | None


class Allocation(Struct, frozen=True, kw_only=True):
    """What this process may use.

    Attributes:
        cores: Cores that it may use: the smallest of affinity, quota and the job's share.
        cores_from: Which of them it is: ``affinity``, ``cgroup quota``, ``Slurm`` or ``machine``.
        affinity: Cores that the scheduler may run it on.
        machine_cores: Cores of the machine.
        memory_limit_bytes: The cgroup's limit; ``None`` for none.
        machine_memory_bytes: Memory of the machine; ``None`` where it does not tell.
        cgroup: The groups' limits.
        slurm: The job; ``None`` outside Slurm.
        visible_devices: Value of the variable that hides devices; ``None`` when unset.
    """

    cores: float
    cores_from: str
    affinity: int
    machine_cores: int
    memory_limit_bytes: int | None
    machine_memory_bytes: int | None
    cgroup: CgroupLimits
    slurm: SlurmJob | None
    visible_devices: str | None
