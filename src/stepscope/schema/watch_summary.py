"""What watching a run found out: the document ``watch.json`` in a run folder.

Three figures of a device are kept apart, because all three are called utilisation: *allocated* (the
job held it), *busy* (some kernel was running) and *working* (its multiprocessors were at work).
"""

from __future__ import annotations

from msgspec import Struct

# At run time too: the reader of the document resolves these annotations.
from stepscope.schema.cost import Estimate  # noqa: TC001
from stepscope.schema.notice import Notice  # noqa: TC001
from stepscope.schema.report import Finding  # noqa: TC001

SCHEMA_VERSION = 1


class ProcessUse(Struct, frozen=True, kw_only=True):
    """What one of the watched processes used.

    Attributes:
        pid: Its number.
        name: What the kernel calls it: foreign text.
        cpu_s: CPU time of its own, while it was watched.
        rss_peak_bytes: Most resident memory.
        threads_peak: Most threads.
    """

    pid: int
    name: str
    cpu_s: float
    rss_peak_bytes: int
    threads_peak: int


class NodeUse(Struct, frozen=True, kw_only=True):
    """What the watched processes used on one node.

    Attributes:
        node: Its name as Slurm has it, else the host's.
        wall_s: How long it was watched.
        tasks: Watchers on it.
        cores: Cores that the job may use there.
        gpus_allocated: Devices of the job there as the scheduler says; ``None`` without one.
        visible_devices: Value of the variable that hides devices; ``None`` when unset.
        cpu_s: CPU time of the watched processes, ended ones included.
        processes_peak, threads_peak: Most at a time.
        rss_peak_bytes: Highest sum of resident memory; shared pages count once a process.
        pss_peak_bytes: Highest sum of proportional memory, in which shared pages count once.
        cgroup_peak_bytes: Highest memory of the job's cgroup; ``None`` where it cannot be read.
        memory_limit_bytes: Limit of the cgroup; ``None`` for none.
        machine_memory_bytes: Memory of the node.
        oom_kills: Processes killed for want of memory during the watch.
        held_back: Times that the kernel held the cgroup back at its soft limit (``memory.high``).
        swap_peak_bytes: Most memory of the processes that lay in swap.
        shm_bytes: Size of ``/dev/shm``.
        shm_peak_bytes: Most used of ``/dev/shm``, by anybody.
        read_bytes, written_bytes: Through read and write calls.
        storage_read_bytes, storage_written_bytes: What of it reached a disk, as the kernel counts it.
        mean_read_bytes: Mean size of a read call; ``None`` when there was none.
        cpu_pressure_frac, io_pressure_frac: Share of the time in which some task waited for it.
        memory_pressure_frac: Share of the time in which every task waited for memory.
        throttled_s: Time in which the cgroup's quota stopped the job.
        voluntary_switches, involuntary_switches: Context switches.
        network_reads: Types of network file system on which files were open.
        available_last_bytes: Memory of the node that was still to be had at the end.
        rss_last_bytes: Resident memory at the end.
        rss_growth_bytes_per_s: Steady growth of memory; ``None`` when it is not steady or cannot be judged.
        processes: Those that used the processor most, dearest first.
    """

    node: str
    wall_s: float
    tasks: int
    cores: float
    gpus_allocated: int | None
    visible_devices: str | None
    cpu_s: float
    processes_peak: int
    threads_peak: int
    rss_peak_bytes: int
    pss_peak_bytes: int | None
    cgroup_peak_bytes: int | None
    memory_limit_bytes: int | None
    machine_memory_bytes: int | None
    oom_kills: int | None
    held_back: int | None = None
    swap_peak_bytes: int | None = None
    shm_bytes: int | None
    shm_peak_bytes: int | None
    read_bytes: int | None
    written_bytes: int | None
    storage_read_bytes: int | None
    storage_written_bytes: int | None
    mean_read_bytes: float | None
    cpu_pressure_frac: float | None
    io_pressure_frac: float | None
    memory_pressure_frac: float | None
    throttled_s: float | None
    voluntary_switches: int | None
    involuntary_switches: int | None
    network_reads: tuple[str, ...]
    available_last_bytes: int | None = None
    rss_last_bytes: int
    rss_growth_bytes_per_s: float | None
    processes: tuple[ProcessUse, ...] = ()


class DeviceUse(Struct, frozen=True, kw_only=True):
    """What the job made of one device; every share is over the time it was watched.

    Attributes:
        node: Where it is.
        uuid: Its own name, by which it is counted once.
        name: What the driver calls it.
        seconds: How long it was watched, that is allocated.
        samples: How many samples it gave.
        busy_frac: Mean share of the time in which some kernel ran.
        longest_idle_s: Longest stretch without any kernel.
        working_frac: Mean activity of its multiprocessors; ``None`` where the device does not tell.
        tensor_frac: Mean activity of its tensor cores; ``None`` where the device does not tell.
        memory_peak_bytes, memory_bytes: Most in use, and all there is.
        memory_last_bytes: In use at the end.
        memory_growth_bytes_per_s: Steady growth; ``None`` when not steady or not to be judged.
        watts_mean, watts_limit: Mean draw and what it may draw.
        clock_mhz: Mean clock of its multiprocessors; ``None`` where not told.
        pcie_bytes_per_s, nvlink_bytes_per_s: Mean traffic, both directions; ``None`` where not told.
        throttled_frac: Share of samples with its clocks held back by heat or a power brake.
        capped_frac: Share of samples with its clocks held back by the power limit.
        throttle_reasons: Why, in words.
        used: Whether a process of the job was seen on it; ``None`` where that cannot be seen.
        lost: Whether it stopped answering.
        energy: Joules, with basis.
    """

    node: str
    uuid: str
    name: str
    seconds: float
    samples: int
    busy_frac: float | None
    longest_idle_s: float | None
    working_frac: float | None
    tensor_frac: float | None
    memory_peak_bytes: int | None
    memory_bytes: int | None
    memory_last_bytes: int | None
    memory_growth_bytes_per_s: float | None
    watts_mean: float | None
    watts_limit: float | None
    clock_mhz: float | None = None
    pcie_bytes_per_s: float | None
    nvlink_bytes_per_s: float | None
    throttled_frac: float | None
    capped_frac: float | None
    throttle_reasons: tuple[str, ...]
    used: bool | None
    lost: bool
    energy: Estimate


class StepUse(Struct, frozen=True, kw_only=True):
    """Steps of training that the recorder timed beside the watch.

    Attributes:
        ranks: Processes that trained.
        steps: Steps of the one with the most.
        seconds: From its first step to the end of its last.
        median_ms: Median step of all ranks.
        slowest_ms: The longest step after the first ones.
        slowest_step, slowest_rank: Which it was, and where.
        wait_frac: Share of the steps' time in which they waited for the DataLoader; ``None`` below a second.
        trend_frac: How much longer steps are in the last quarter of the run than in the first; ``None`` with
            too few of them.
    """

    ranks: int
    steps: int
    seconds: float
    median_ms: float
    slowest_ms: float
    slowest_step: int
    slowest_rank: int
    wait_frac: float | None
    trend_frac: float | None

    @property
    def per_s(self) -> float | None:
        """Steps a second; ``None`` where no time has passed."""
        return self.steps / self.seconds if self.seconds > 0 else None


class WatchSummary(Struct, frozen=True, kw_only=True):
    """A watched run.

    Attributes:
        schema_version: Version of this document's form.
        stepscope_version: Version of the program that wrote it.
        command: The command line that was watched; empty when it was attached to.
        job_id: Slurm's number of the job; ``None`` outside Slurm.
        partition: Its partition.
        interactive: Whether it ran in a notebook server or an interactive shell.
        time_limit_s: The job's time limit.
        started: When, ISO 8601 with time zone.
        wall_s: How long it was watched, the longest of the nodes.
        exit_status: The command's; ``None`` while unknown.
        signal: The signal that ended it; ``None`` for none.
        complete: Whether every watcher saw the end.
        nodes: One per node.
        devices: One per device of the job, each once.
        host_energy: Joules of CPU and memory that are the job's.
        own_cpu_s, own_rss_bytes: What watching took: CPU time of all watchers, memory of the largest.
        findings: Mistakes, most important first.
        notices: What could not be seen, and why.
        steps: Steps of training; ``None`` where none were timed.
    """

    schema_version: int = SCHEMA_VERSION
    stepscope_version: str
    command: tuple[str, ...]
    job_id: str | None
    partition: str | None
    interactive: bool
    time_limit_s: float | None
    started: str
    wall_s: float
    exit_status: int | None
    signal: int | None
    complete: bool
    nodes: tuple[NodeUse, ...]
    devices: tuple[DeviceUse, ...]
    host_energy: Estimate
    own_cpu_s: float | None
    own_rss_bytes: int | None
    findings: tuple[Finding, ...] = ()
    notices: tuple[Notice, ...] = ()
    steps: StepUse | None = None
