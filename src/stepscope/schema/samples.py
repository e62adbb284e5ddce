"""Rows that a watcher appends to ``watch/<node>.<task>.jsonl`` of a run folder, one JSON object a line.

Each file begins with one :class:`Start`, goes on with rows as they come, and ends with one
:class:`End`, which is missing when the watcher was killed. Cumulative columns count from the start of
the process or counter that they are about; a reader takes differences. Null means "not seen".
"""

from __future__ import annotations

import msgspec

SAMPLES_FOLDER = "watch"
SUMMARY_NAME = "watch.json"
SAMPLES_VERSION = 1


class Row(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="row", kw_only=True):
    """Base of all rows."""


class Start(Row, tag="start", frozen=True, omit_defaults=True, kw_only=True):
    """Who watches what.

    Attributes:
        version: Version of these rows.
        stepscope_version: Version of the program that wrote them.
        time_ns: Nanoseconds since 1970 at the zero of ``at_s``.
        perf_ns: The same moment on the clock of ``time.perf_counter_ns``, which the processes of a machine
            share; ``None`` in rows of before that was kept.
        command: The command that is watched; empty when it was attached to.
        pid: The process that is watched.
        host: Name of the machine.
        node: Slurm's name of the node, else the host's.
        task: Number of this watcher among those of the job.
        tasks: Number of watchers that the job should have.
        job_id: Slurm's job; ``None`` outside.
        partition: Slurm's partition.
        interactive: Whether it runs in a notebook server or an interactive shell.
        time_limit_s: The job's time limit.
        cores: Cores that the job may use on the node.
        machine_cores: Cores of the node.
        memory_limit_bytes: The cgroup's limit.
        machine_memory_bytes: Memory of the node.
        shm_bytes: Size of ``/dev/shm``.
        gpus_allocated: Devices of the job on the node as the scheduler says.
        visible_devices: Value of the variable that hides devices.
        interval_s: Time between two samples.
        attached: Whether the processes had been running before, so that what they had used by then is not the run's.
    """

    version: int = SAMPLES_VERSION
    stepscope_version: str
    time_ns: int
    perf_ns: int | None = None
    command: tuple[str, ...]
    pid: int
    host: str
    node: str
    task: int = 0
    tasks: int = 1
    job_id: str | None = None
    partition: str | None = None
    interactive: bool = False
    time_limit_s: float | None = None
    cores: float
    machine_cores: int
    memory_limit_bytes: int | None = None
    machine_memory_bytes: int | None = None
    shm_bytes: int | None = None
    gpus_allocated: int | None = None
    visible_devices: str | None = None
    interval_s: float
    attached: bool = False


class Notice(Row, tag="notice", frozen=True, omit_defaults=True, kw_only=True):
    """Something that cannot be seen, and why.

    Attributes:
        code: Stable word.
        text: One sentence.
    """

    code: str
    text: str


class HostSample(Row, tag="host", frozen=True, omit_defaults=True, kw_only=True):
    """The watched processes and their surroundings.

    Attributes:
        at_s: Seconds after the start.
        processes, threads: How many there are.
        cpu_s: CPU time of all of them, ended ones included; cumulative.
        node_cpu_s: CPU time that the node spent on anything; cumulative.
        rss_bytes: Sum of resident memory.
        pss_bytes: Sum of proportional memory; taken less often.
        read_bytes, written_bytes: Through calls, ended processes included; cumulative.
        read_calls: Read calls; cumulative.
        storage_read_bytes, storage_written_bytes: What reached a disk; cumulative.
        voluntary_switches, involuntary_switches: Context switches of all threads; taken less often; cumulative.
        cgroup_bytes: Memory of the cgroup, caches included.
        oom_kills: Processes killed in the cgroup for want of memory; cumulative.
        held_back: Times that the kernel held the cgroup back at its soft limit (``memory.high``); cumulative.
        swap_bytes: Memory of the processes that lies in swap; taken less often.
        available_bytes: Memory of the node that is still to be had, as the kernel reckons it.
        throttled_us: Time that the cgroup's quota stopped it; cumulative.
        shm_bytes: In use in ``/dev/shm``.
        cpu_pressure_us, io_pressure_us: Time in which some task waited; cumulative.
        memory_pressure_us: Time in which all tasks waited for memory; cumulative.
        network_reads: Kinds of network file system on which files are open; taken less often.
    """

    at_s: float
    processes: int
    threads: int
    cpu_s: float
    node_cpu_s: float | None = None
    rss_bytes: int
    pss_bytes: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    read_calls: int | None = None
    storage_read_bytes: int | None = None
    storage_written_bytes: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    cgroup_bytes: int | None = None
    oom_kills: int | None = None
    held_back: int | None = None
    swap_bytes: int | None = None
    available_bytes: int | None = None
    throttled_us: int | None = None
    shm_bytes: int | None = None
    cpu_pressure_us: int | None = None
    io_pressure_us: int | None = None
    memory_pressure_us: int | None = None
    network_reads: tuple[str, ...] = ()


class ProcessSample(Row, tag="process", frozen=True, omit_defaults=True, kw_only=True):
    """One of the watched processes; those that use the processor most, taken less often.

    Attributes:
        at_s: Seconds after the start.
        pid: Its number.
        name: What the kernel calls it: foreign text of at most 15 bytes.
        cpu_s: CPU time of its own; cumulative since the process began.
        rss_bytes: Resident memory.
        threads: How many it has.
    """

    at_s: float
    pid: int
    name: str
    cpu_s: float
    rss_bytes: int
    threads: int


class DeviceStart(Row, tag="device-start", frozen=True, omit_defaults=True, kw_only=True):
    """A device that is watched.

    Attributes:
        uuid: Its own name.
        name: What the driver calls it.
        memory_bytes: Its memory.
        watts_limit: What it may draw; of the whole device for a slice.
        slice_frac: Share of the device that a MIG slice is; 1 for a whole device.
        parent: UUID of the whole device for a slice.
    """

    uuid: str
    name: str
    memory_bytes: int | None = None
    watts_limit: float | None = None
    slice_frac: float = 1.0
    parent: str | None = None


class DeviceSample(Row, tag="device", frozen=True, omit_defaults=True, kw_only=True):
    """A device at a moment.

    Attributes:
        at_s: Seconds after the start.
        uuid: Which.
        busy_frac: Share of the driver's last sample period in which some kernel ran.
        working_frac: Activity of the multiprocessors since the last sample.
        tensor_frac: Activity of the tensor cores since the last sample.
        memory_bytes: In use, by anybody.
        watts: Draw; of the whole device for a slice.
        energy_mj: Energy counter in millijoules; cumulative; of the whole device for a slice.
        clock_mhz: Clock of the multiprocessors.
        events: The driver's bits of what holds the clocks back.
        job_processes: Processes of the job on it; ``None`` where that cannot be seen.
        pcie_sent_bytes_per_s, pcie_received_bytes_per_s: Traffic to and from the host.
        nvlink_bytes_per_s: Traffic between devices, both directions.
        lost: Whether it has stopped answering.
    """

    at_s: float
    uuid: str
    busy_frac: float | None = None
    working_frac: float | None = None
    tensor_frac: float | None = None
    memory_bytes: int | None = None
    watts: float | None = None
    energy_mj: int | None = None
    clock_mhz: int | None = None
    events: int | None = None
    job_processes: int | None = None
    pcie_sent_bytes_per_s: float | None = None
    pcie_received_bytes_per_s: float | None = None
    nvlink_bytes_per_s: float | None = None
    lost: bool = False


class MeterSample(Row, tag="meter", frozen=True, omit_defaults=True, kw_only=True):
    """An energy counter of the node.

    Attributes:
        at_s: Seconds after the start.
        meter: Which, for instance ``rapl:0:package``.
        part: ``cpu``, ``memory``, ``node`` or ``devices``.
        joules: Since the watcher first read it, wrap-around undone.
    """

    at_s: float
    meter: str
    part: str
    joules: float


class End(Row, tag="end", frozen=True, omit_defaults=True, kw_only=True):
    """The watcher saw the end.

    Attributes:
        at_s: Seconds after the start.
        exit_status: The command's; ``None`` when it was attached to, or ended by a signal.
        signal: The signal that ended it.
        own_cpu_s: CPU time that watching took.
        own_rss_bytes: Memory that watching took, at its peak.
    """

    at_s: float
    exit_status: int | None = None
    signal: int | None = None
    own_cpu_s: float
    own_rss_bytes: int


AnyRow = (
    Start | Notice | HostSample | ProcessSample | DeviceStart | DeviceSample | MeterSample | End
)
"""Every kind of row."""

Sample = HostSample | ProcessSample | DeviceStart | DeviceSample | MeterSample | Notice
"""Rows that samplers make."""
