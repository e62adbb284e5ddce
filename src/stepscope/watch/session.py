"""One watch from start to end: what is watched, where rows go, and what is said at the end."""

from __future__ import annotations

import signal
import socket
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from stepscope._version import __version__
from stepscope.errors import InputError, OptionError
from stepscope.schema.samples import Start
from stepscope.units import NS_PER_S
from stepscope.watch.allocation import read_allocation
from stepscope.watch.amd_sampler import AmdSampler
from stepscope.watch.attach import (
    JobProcesses,
    Stop,
    alive,
    environment_of,
    processes_of_job,
    watch_others,
)
from stepscope.watch.closing import finish, until_now
from stepscope.watch.herald import Herald
from stepscope.watch.host_sampler import SHARED_MEMORY, HostSampler
from stepscope.watch.loop import Loop, say
from stepscope.watch.meters import CraySampler, RaplSampler
from stepscope.watch.nvml_sampler import NvmlSampler
from stepscope.watch.process_tree import PROC, ProcessTree
from stepscope.watch.recalled import Memory, Recalling
from stepscope.watch.slurm_limit import time_limit_s
from stepscope.watch.store import SampleWriter
from stepscope.watch.surroundings import shared_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stepscope.schema.sampler import Sampler
    from stepscope.watch.portable_tree import PortableTree

RUNS = Path("stepscope-runs")
INTERVAL_S = 0.5
NOTEBOOKS = ("JPY_PARENT_PID", "JPY_SESSION_NAME", "JUPYTERHUB_USER")


class WatchOptions(Struct, frozen=True, kw_only=True):
    """How to watch.

    Attributes:
        out: The run folder; ``None`` for one under ``stepscope-runs`` named by job or time.
        interval_s: Time between two samples.
        live: Whether to show the live view; ``None`` for "on a terminal".
        task: Number of this watcher and how many there are; ``None`` for what Slurm says.
        tells: Whether severe mistakes are told while the run goes on.
        memory: Where the watch began before the watcher did; ``None`` for now.
        attached: Whether the watched had been running before, which is not counted.
        more: Gives lines about the run folder that are told after the summary.
    """

    out: Path | None = None
    interval_s: float = INTERVAL_S
    live: bool | None = None
    task: tuple[int, int] | None = None
    tells: bool = True
    memory: Memory | None = None
    attached: bool = False
    more: Callable[[Path], str] | None = None


def watch_command(
    command: tuple[str, ...], options: WatchOptions, environ: Mapping[str, str]
) -> int:
    """Runs a command and watches it; the command's exit status, and its end by a signal, are ours.

    Raises:
        OptionError: The command cannot be run, or this system cannot watch one.
    """
    if not hasattr(signal, "sigtimedwait"):
        raise OptionError(
            "watching a command needs Linux; `stepscope watch --pid` works everywhere"
        )
    from stepscope.watch.child import Child, end_like  # noqa: PLC0415  it needs Linux's signals

    folder = run_folder(options.out, environ)
    child = Child(command, environ)
    loop = build(tree_of(child.pid), child.pid, command, options, environ, folder)
    loop.open()
    ending = child.watch(loop)
    loop.close(ending.status, ending.signal)
    finish(folder, environ, options.more)
    return end_like(ending)


def watch_process(pid: int, options: WatchOptions, environ: Mapping[str, str]) -> int:
    """Watches a process that is already running until it ends, or until somebody asks for the end.

    Raises:
        InputError: There is no such process, or it is somebody else's.
    """
    if PROC.is_dir():
        if not alive(pid):
            raise InputError(f"there is no process {pid}")
        theirs: Mapping[str, str] = environment_of(pid)
    else:
        theirs = environ
    folder = run_folder(options.out, {**environ, **slurm_only(theirs)})
    stop = Stop()
    attached = replace(options, attached=True)
    loop = build(tree_of(pid), pid, (), attached, theirs, folder)
    loop.open()
    watch_others(loop, lambda: alive(pid), stop)
    loop.close()
    finish(folder, theirs)
    return 0


def watch_job_here(job_id: str, options: WatchOptions, environ: Mapping[str, str]) -> int:
    """Watches a Slurm job's processes on this node, from a step of its own inside the job.

    Raises:
        InputError: None of its processes is ours to look at.
    """
    first = min(processes_of_job(job_id), default=None)
    if first is None:
        raise InputError(f"no process of job {job_id} is on this node, or none is yours to look at")
    theirs = environment_of(first)
    folder = run_folder(options.out, environ)
    stop = Stop()
    tree = ProcessTree(first)
    job = JobProcesses(job_id, tree.add)
    attached = replace(options, attached=True)
    loop = build(tree, first, (), attached, {**theirs, **step_names(environ)}, folder)
    loop.open()
    watch_others(loop, job.are_there, stop)
    loop.close()
    finish(folder, environ)
    return 0


def slurm_only(environ: Mapping[str, str]) -> dict[str, str]:
    """Slurm's variables of an environment."""
    return {name: value for name, value in environ.items() if name.startswith("SLURM")}


def step_names(environ: Mapping[str, str]) -> dict[str, str]:
    """What names this watcher among those of its own step."""
    names = (
        "SLURM_PROCID",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_NTASKS",
        "SLURMD_NODENAME",
        "SLURM_LOCALID",
    )
    return {name: environ[name] for name in names if name in environ}


def run_folder(out: Path | None, environ: Mapping[str, str]) -> Path:
    """The folder that rows go to: one for all tasks of a Slurm step, else one for each watch."""
    if out is not None:
        return out.absolute()
    job, step = environ.get("SLURM_JOB_ID"), environ.get("SLURM_STEP_ID", "batch")
    if job:
        return (RUNS / f"job-{job}.{step}").absolute()
    moment = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    folder, count = RUNS / f"watch-{moment}", 1
    while folder.exists():
        folder, count = RUNS / f"watch-{moment}-{count}", count + 1
    return folder.absolute()


def tree_of(pid: int) -> ProcessTree | PortableTree:
    """The processes to watch, by what this system has."""
    if PROC.is_dir():
        return ProcessTree(pid)
    from stepscope.watch.portable_tree import PortableTree  # noqa: PLC0415  (what it needs is dear)

    return PortableTree(pid)


def build(
    tree: ProcessTree | PortableTree,
    pid: int,
    command: tuple[str, ...],
    options: WatchOptions,
    environ: Mapping[str, str],
    folder: Path,
) -> Loop:
    """The loop of one watch.

    Args:
        tree: The processes.
        pid: The first of them.
        command: What was typed, for the record.
        options: How to watch.
        environ: The process's environment.
        folder: The run folder.
    """
    start = begin(pid, command, options, environ)
    memory = options.memory or Memory()
    if memory.since is not None:
        since = memory.since
        start = msgspec.structs.replace(start, time_ns=since.time_ns, perf_ns=since.perf_ns)
    samplers: list[Sampler] = [
        HostSampler(tree, pid),
        NvmlSampler(environ.get("CUDA_VISIBLE_DEVICES")),
        AmdSampler((environ.get("ROCR_VISIBLE_DEVICES"), environ.get("HIP_VISIBLE_DEVICES"))),
        RaplSampler(read=memory.text),
        CraySampler(read=memory.text),
    ]
    writer: SampleWriter | None = None
    try:
        writer = SampleWriter(folder, start)
    except OSError as error:
        say(f"nothing is kept: {folder} cannot be written to ({error.strerror})")
    live = sys.stderr.isatty() if options.live is None else options.live
    view = None
    if live:
        # Rich is only for those who look; it is half of what watching would take in memory.
        from stepscope.watch.view import open_view  # noqa: PLC0415

        view = open_view(start)
    herald = None
    if options.tells and writer is not None and start.task == 0:
        path, tasks = writer.path, start.tasks
        herald = Herald(lambda: until_now(path, tasks), say)
    return Loop(
        [Recalling(sampler, memory) for sampler in samplers],
        lambda: tree.pids,
        writer,
        interval_s=options.interval_s,
        began_s=(start.perf_ns or time.perf_counter_ns()) / NS_PER_S,
        view=view,
        herald=herald,
        clock=memory.seconds,
    )


def begin(
    pid: int, command: tuple[str, ...], options: WatchOptions, environ: Mapping[str, str]
) -> Start:
    """The first row."""
    allocation = read_allocation(environ, pid)
    job = allocation.slurm
    shared = shared_memory(SHARED_MEMORY)
    host = socket.gethostname()
    task = 0 if job is None or job.process_id is None else job.process_id
    tasks = 1 if job is None or job.step_id is None else job.tasks
    if options.task is not None:
        task, tasks = options.task
    return Start(
        stepscope_version=__version__,
        time_ns=time.time_ns(),
        perf_ns=time.perf_counter_ns(),
        command=command,
        pid=pid,
        host=host,
        node=job.node if job is not None and job.node else host,
        task=task,
        tasks=tasks,
        job_id=None if job is None else job.job_id,
        partition=None if job is None else job.partition or None,
        interactive=any(name in environ for name in NOTEBOOKS),
        time_limit_s=None if job is None else time_limit_s(job.job_id, environ),
        cores=allocation.cores,
        machine_cores=allocation.machine_cores,
        memory_limit_bytes=allocation.memory_limit_bytes,
        machine_memory_bytes=allocation.machine_memory_bytes,
        shm_bytes=None if shared is None else shared[1],
        gpus_allocated=None if job is None else job.gpus_on_node,
        visible_devices=allocation.visible_devices,
        interval_s=options.interval_s,
        attached=options.attached,
    )
