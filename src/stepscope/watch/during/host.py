"""Mistakes during a run about cores, memory, files and the job's limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_bytes, format_frac
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.schema.report import Severity
    from stepscope.schema.watch_summary import NodeUse
    from stepscope.watch.during.seen import During

SMALL_READ_BYTES = 128 * 1024
LEAST_READ_BYTES = 100_000_000
FAR_OFF_S = 30 * 24 * 3600.0


def few_workers(seen: During) -> Finding | None:
    """Steps wait for data while cores stand idle."""
    if not seen.is_judged or seen.wait_frac is None or seen.wait_frac <= 0.10:
        return None
    node = seen.summary.nodes[0]
    used = cores_used(node)
    if used >= node.cores - 1:
        return None
    return Finding(
        code="WA020", regime="input", severity="high", confidence="high",
        title=f"steps wait for data {format_frac(seen.wait_frac)} of the time, and {node.cores - used:.1f} cores stand idle",
        evidence=(
            Evidence(name="steps' time spent waiting for the DataLoader", value=seen.wait_frac, unit="frac"),
            Evidence(name="cores in use on average", value=used, unit="cores"),
            Evidence(name="cores that the job may use", value=node.cores, unit="count"),
        ),
        action="Give the DataLoader more workers; `stepscope tune` measures how many are best.",
        snippet=f"DataLoader(..., num_workers={max(1, int(node.cores) - 1)}, persistent_workers=True)",
        share_frac=seen.wait_frac,
    )  # fmt: skip


def oversubscribed(seen: During) -> Finding | None:
    """Threads take turns on too few cores."""
    if not seen.is_judged:
        return None
    for node in seen.summary.nodes:
        if node.cpu_pressure_frac is None or node.involuntary_switches is None or node.wall_s <= 0:
            continue
        rate = node.involuntary_switches / node.wall_s / max(node.cores, 1)
        full = cores_used(node) > 0.8 * node.cores
        if (
            node.cpu_pressure_frac > 0.25
            and rate > 100
            and full
            and node.threads_peak > 2 * node.cores
        ):
            return Finding(
                code="WA021", regime="host", severity="medium", confidence="medium",
                title=f"{node.threads_peak} threads take turns on {node.cores:g} core(s)",
                evidence=(
                    Evidence(name="time in which some task waited for a core", value=node.cpu_pressure_frac, unit="frac"),
                    Evidence(name="involuntary switches a second and core", value=rate, unit="/s"),
                ),
                action="Lower OMP_NUM_THREADS or num_workers until ranks x (threads + workers) fits the cores.",
                snippet="export OMP_NUM_THREADS=1",
            )  # fmt: skip
    return None


def small_reads(seen: During) -> Finding | None:
    """Data are read in small pieces from a shared file system."""
    if not seen.is_judged:
        return None
    for node in seen.summary.nodes:
        if not node.network_reads or node.mean_read_bytes is None or not node.read_bytes:
            continue
        if node.mean_read_bytes < SMALL_READ_BYTES and node.read_bytes > LEAST_READ_BYTES:
            return Finding(
                code="WA022", regime="input", severity="medium", confidence="medium",
                title=f"files on {', '.join(node.network_reads)} are read in pieces of {format_bytes(node.mean_read_bytes)}",
                evidence=(
                    Evidence(name="mean size of a read", value=node.mean_read_bytes, unit="bytes"),
                    Evidence(name="read in all", value=node.read_bytes, unit="bytes"),
                ),
                action="Pack small files into large ones (squashfs, tar with webdataset, LMDB) and copy them to the node's disk first.",
                snippet="tar xf data.tar -C $TMPDIR",
            )  # fmt: skip
    return None


def memory_short(seen: During) -> Finding | None:
    """Memory ran short: processes were killed, all waited for memory, or the limit is near."""
    for node in seen.summary.nodes:
        limit = limit_of(node)
        most = node.rss_peak_bytes if node.pss_peak_bytes is None else node.pss_peak_bytes
        share = most / limit if limit else None
        killed = bool(node.oom_kills)
        pressed = seen.is_judged and (node.memory_pressure_frac or 0) > 0.01
        near = (
            seen.is_judged
            and node.pss_peak_bytes is not None
            and limit is not None
            and node.pss_peak_bytes > 0.95 * limit
        )
        if not (killed or pressed or near):
            continue
        what = (
            f"{node.oom_kills} process(es) were killed for want of memory"
            if killed
            else "memory is nearly used up"
        )
        return Finding(
            code="WA023", regime="memory", severity="high", confidence="high",
            title=f"{what} on {node.node}",
            evidence=(
                Evidence(name="peak of the processes over the limit", value=share, unit="frac"),
                Evidence(name="time in which all waited for memory", value=node.memory_pressure_frac, unit="frac"),
                Evidence(name="limit", value=limit, unit="bytes"),
            ),
            action="Ask for more memory, or hold less: fewer loader workers, a smaller prefetch_factor, memory-mapped data.",
            snippet="#SBATCH --mem=...",
        )  # fmt: skip
    return None


def memory_unused(seen: During) -> Finding | None:
    """Five times more memory was asked for than needed."""
    if not seen.is_judged or seen.summary.job_id is None:
        return None
    for node in seen.summary.nodes:
        limit = node.memory_limit_bytes
        most = max(node.rss_peak_bytes, 1)
        if limit is not None and limit > 5 * most and limit > 16 << 30:
            return Finding(
                code="WA024", regime="memory", severity="low", confidence="high",
                title=f"the job holds {format_bytes(limit)} on {node.node} and used {format_bytes(most)}",
                evidence=(
                    Evidence(name="limit", value=limit, unit="bytes"),
                    Evidence(name="peak of the processes", value=most, unit="bytes"),
                ),
                action="Ask for about one and a half times the peak: others can use the rest, and you may start sooner.",
                snippet=f"#SBATCH --mem={max(1, round(1.5 * most / 2**30))}G",
            )  # fmt: skip
    return None


def shared_memory_full(seen: During) -> Finding | None:
    """``/dev/shm`` filled up."""
    for node in seen.summary.nodes:
        if node.shm_bytes and node.shm_peak_bytes and node.shm_peak_bytes > 0.9 * node.shm_bytes:
            return Finding(
                code="WA025", regime="memory", severity="high", confidence="high",
                title="shared memory (/dev/shm) was nearly full: loader workers die of that with a bus error",
                evidence=(
                    Evidence(name="most in use", value=node.shm_peak_bytes, unit="bytes"),
                    Evidence(name="size", value=node.shm_bytes, unit="bytes"),
                ),
                action="Give the container more (--shm-size, --ipc=host), or lower num_workers or prefetch_factor.",
                snippet="docker run --shm-size=8g ...",
            )  # fmt: skip
    return None


def host_leak(seen: During) -> Finding | None:
    """Memory of the processes grows without end."""
    if not seen.is_judged:
        return None
    for node in seen.summary.nodes:
        growth, limit = node.rss_growth_bytes_per_s, limit_of(node)
        if growth is None:
            continue
        left = None if limit is None else (limit - node.rss_last_bytes) / growth
        return Finding(
            code="WA026", regime="memory", severity=how_soon(left), confidence="medium",
            title=f"memory on {node.node} grows by {format_bytes(growth * 60)} a minute{runs_out(left)}",
            evidence=(
                Evidence(name="growth a minute", value=growth * 60, unit="bytes"),
                Evidence(name="growth a step", value=per_step(seen, growth), unit="bytes"),
                Evidence(name="in use at the end", value=node.rss_last_bytes, unit="bytes"),
                Evidence(name="limit", value=limit, unit="bytes"),
            ),
            action=(
                "Something is kept in each step: losses stored as tensors (use .item() or .detach()), lists that "
                "only grow, a data set that caches in every worker."
            ),
            snippet="total += loss.item()   # not: total += loss",
        )  # fmt: skip
    return None


def device_leak(seen: During) -> Finding | None:
    """Memory of a device grows without end."""
    if not seen.is_judged:
        return None
    for device in seen.devices:
        growth = device.memory_growth_bytes_per_s
        if growth is None or device.memory_last_bytes is None:
            continue
        left = (
            None
            if device.memory_bytes is None
            else (device.memory_bytes - device.memory_last_bytes) / growth
        )
        return Finding(
            code="WA027", regime="memory", severity=how_soon(left), confidence="medium",
            title=f"memory of a GPU grows by {format_bytes(growth * 60)} a minute{runs_out(left)}",
            evidence=(
                Evidence(name="growth a minute", value=growth * 60, unit="bytes"),
                Evidence(name="growth a step", value=per_step(seen, growth), unit="bytes"),
                Evidence(name="in use at the end", value=device.memory_last_bytes, unit="bytes"),
                Evidence(name="device", value=device.uuid, unit="text"),
            ),
            action="Tensors with their graph are kept in each step: detach what you store, free what you cache.",
            snippet="losses.append(loss.detach())",
        )  # fmt: skip
    return None


def long_limit(seen: During) -> Finding | None:
    """The job asked for ten times the time that it took."""
    limit, wall = seen.summary.time_limit_s, seen.summary.wall_s
    ended = seen.summary.complete and seen.summary.exit_status == 0
    if not seen.is_judged or limit is None or not ended or seen.summary.interactive:
        return None
    if limit < 3600 or wall > limit / 10:
        return None
    return Finding(
        code="WA028", regime="healthy", severity="low", confidence="high",
        title=f"the job asked for {limit / 3600:.1f} h and took {wall / 3600:.1f} h",
        evidence=(Evidence(name="used of the time limit", value=wall / limit, unit="frac"),),
        action="A shorter limit starts sooner: the scheduler can fit it into gaps.",
        snippet=f"#SBATCH --time={max(1, round(2 * wall / 3600))}:00:00",
    )  # fmt: skip


def serial_program(seen: During) -> Finding | None:
    """Many cores, one in use, and no device."""
    if not seen.is_judged or seen.summary.devices or len(seen.summary.nodes) != 1:
        return None
    node = seen.summary.nodes[0]
    used = cores_used(node)
    if node.cores < 4 or not 0.8 <= used <= 1.2:
        return None
    return Finding(
        code="WA029", regime="host", severity="medium", confidence="medium",
        title=f"one of {node.cores:g} cores worked: the program looks serial",
        evidence=(Evidence(name="cores in use on average", value=used, unit="cores"),),
        action="Ask for one core, or see why torch's threads and the loader's workers stay idle.",
        snippet="python -c 'import torch; print(torch.__config__.parallel_info())'",
    )  # fmt: skip


def cores_used(node: NodeUse) -> float:
    """Cores in use on average."""
    return node.cpu_s / node.wall_s if node.wall_s > 0 else 0.0


def limit_of(node: NodeUse) -> int | None:
    """The cgroup's limit, else the machine's memory."""
    return node.memory_limit_bytes or node.machine_memory_bytes


def per_step(seen: During, growth: float) -> float | None:
    """Growth a step; ``None`` where steps are not known."""
    use = seen.summary.steps
    if use is not None and use.per_s:
        # The run's start and end hold no steps.
        return growth / use.per_s
    return growth * seen.summary.wall_s / seen.steps if seen.steps else None


def how_soon(left_s: float | None) -> Severity:
    """High when memory runs out within a day."""
    return "high" if left_s is not None and left_s < 24 * 3600 else "medium"


def runs_out(left_s: float | None) -> str:
    """When memory runs out, in words."""
    if left_s is None or left_s > FAR_OFF_S:
        return ""
    if left_s < 3600:
        return f" and runs out in {left_s / 60:.0f} minutes"
    return f" and runs out in {left_s / 3600:.1f} hours"


MISTAKES: tuple[Mistake[During], ...] = (
    Mistake("WA020", "too few loader workers", "steps wait for the DataLoader above 10 % of their time while a core or more stands idle", "CSC, LUMI and Snellius advice on cores a GPU", few_workers),
    Mistake("WA021", "threads take turns", "CPU pressure above 25 %, more than 100 involuntary switches a second and core, more threads than twice the cores; our thresholds", "pytorch issue 64864", oversubscribed),
    Mistake("WA022", "small reads from a shared file system", "mean read below 128 KiB of more than 100 MB with files open on a network file system; our thresholds", "LUMI and CSC data guides", small_reads),
    Mistake("WA023", "memory short", "a process killed for want of memory, memory pressure (full) above 1 %, or processes above 95 % of the limit", "kernel documentation of PSI; jobstats", memory_short),
    Mistake("WA024", "memory asked and not used", "limit above 5 times the peak and above 16 GiB, in a job", "jobstats, Job Defense Shield", memory_unused),
    Mistake("WA025", "shared memory full", "more than 90 % of it in use; our threshold", "PyTorch documentation of DataLoader", shared_memory_full),
    Mistake("WA026", "host memory grows", "lowest values of ten equal parts rise steadily, by 50 MB and 2 % or more; our thresholds", "-", host_leak),
    Mistake("WA027", "device memory grows", "the same for a device's memory", "-", device_leak),
    Mistake("WA028", "time limit too long", "used at most a tenth of a limit of an hour or more", "jobstats", long_limit),
    Mistake("WA029", "serial program on many cores", "0.8 to 1.2 of 4 or more cores in use, no device", "jobstats", serial_program),
)  # fmt: skip
