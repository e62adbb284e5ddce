"""A job of many generated ranks of 20 MB each: time on one and two cores, and peak memory of all processes.

usage: python benchmarks/many_ranks.py [--ranks 512] [--folder DIR] [--speed-ranks 32] [--operators 2700]
       python benchmarks/many_ranks.py --lost-worker [--ranks 512]

Ranks share their events, but for the slow one; each file has its own header. Memory is the sum over the
process and its children of the proportional set size (pages that processes share count once), read ten
times a second. The machine should be idle: with other programs on its cores the ratio of times says little.

With ``--lost-worker`` the same job is read on a Dask cluster of two local workers, one of which is killed in the
middle, and its report is held against that of two processes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from stepscope import analyze
from stepscope.testing import A100, Group, Setup, TraceBuilder

MS = 1_000_000
STEPS, OPERATORS = 8, 2_700
SLOW, SLOW_NS = 3, 30 * MS
COMMAND = [sys.executable, "-m", "stepscope", "analyze", "--no-text", "--json", os.devnull]


def bodies(world: int, operators: int) -> tuple[str, str]:
    """Texts of a rank that waits and of the one that it waits for."""
    traces = []
    for rank in (0, SLOW):
        setup = Setup(rank=rank, world_size=world, gpus=(A100,) * 8, device=0, pid=4000)
        traces.append(TraceBuilder(setup))
    group = Group(ranks=tuple(range(world)))
    for number in range(STEPS):
        ends = []
        for trace, extra in zip(traces, (0, SLOW_NS), strict=True):
            with trace.step(number):
                trace.loader_wait(100_000 + extra)
                for at in range(operators):
                    with trace.op(f"aten::op_{at % 60}"):
                        trace.launch(f"kernel_{at % 80}", 20_000)
                with trace.op("aten::last"):
                    ends.append(trace.launch("kernel_last", 20_000))
        for trace in traces:
            trace.collective(
                "allreduce", 1_000_000, 1_000, group=group, until_ns=max(ends) + 2 * MS
            )
            trace.wait_for_communication()
            trace.item()
    return traces[0].text(), traces[1].text()


def write(folder: Path, world: int, operators: int = OPERATORS) -> int:
    """Writes all ranks; returns the size of one as text."""
    texts = bodies(world, operators)
    halves = [text.partition('"traceEvents"') for text in texts]
    packed = [gzip.compress("".join(half[1:]).encode(), 1) for half in halves]
    for rank in range(world):
        slow = int(rank == SLOW)
        head = re.sub(r'"rank": \d+', f'"rank": {rank}', halves[slow][0])
        head = re.sub(r'"trace_id": "[^"]*"', f'"trace_id": "{rank:032X}"', head)
        head = head.replace('"host_name": "made"', f'"host_name": "node{rank // 8}"')
        path = folder / f"rank{rank}.pt.trace.json.gz"
        path.write_bytes(gzip.compress(head.encode(), 1) + packed[slow])
    return len(texts[0])


def measure(folder: Path, jobs: int, cores: set[int]) -> dict[str, float]:
    """Seconds, seconds of computing, and the most memory of all processes together in MB."""
    start, before = time.perf_counter(), os.times()
    process = subprocess.Popen([*COMMAND, "--jobs", str(jobs), str(folder)])
    top = psutil.Process(process.pid)
    top.cpu_affinity(sorted(cores))
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, memory(top))
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(process.returncode)
    after = os.times()
    computing = sum(after[2:4]) - sum(before[2:4])
    return {"s": time.perf_counter() - start, "cpu_s": computing, "peak_mb": peak / 1e6}


def lost_worker(folder: Path) -> dict[str, object]:
    """Kills one of two Dask workers in the middle; whether the report is the same, and how it went."""
    from distributed import LocalCluster  # noqa: PLC0415  (an extra)

    start = time.perf_counter()
    here = analyze([folder], jobs=2)
    between = time.perf_counter()
    killed: list[int] = []
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        victim = next(iter(cluster.workers.values())).pid

        def kill_once(done: int, total: int, _path: str) -> None:
            if not killed and done >= total // 2:
                os.kill(victim, signal.SIGKILL)
                killed.append(done)

        there = analyze([folder], jobs=cluster.scheduler_address, progress=kill_once)
    same = (there.job, there.findings, there.ranks, there.health) == (
        here.job,
        here.findings,
        here.ranks,
        here.health,
    )
    return {
        "ranks": len(there.ranks),
        "killed_after": killed[0],
        "same": same,
        "late_rank": there.job.straggler.rank if there.job and there.job.straggler else None,
        "processes_s": between - start,
        "dask_s": time.perf_counter() - between,
    }


def memory(top: psutil.Process) -> float:
    """Proportional set size of a process and its children in bytes."""
    total = 0.0
    try:
        for one in [top, *top.children(recursive=True)]:
            total += one.memory_full_info().pss
    except psutil.Error:
        return total
    return total


def main() -> None:
    """Measures and prints one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=512)
    parser.add_argument("--speed-ranks", type=int, default=32)
    parser.add_argument("--operators", type=int, default=OPERATORS)
    parser.add_argument("--lost-worker", action="store_true")
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory(dir=args.folder) as made:
        few, many = Path(made, "few"), Path(made, "many")
        few.mkdir()
        many.mkdir()
        if args.lost_worker:
            size = write(many, args.ranks, args.operators)
            print(json.dumps({"text_mb": size / 1e6, **lost_worker(many)}))
            return
        size = write(few, args.speed_ranks, args.operators)
        one, two = measure(few, 1, {cores[0]}), measure(few, 2, set(cores))
        ratio = one["s"] / two["s"]
        print(
            json.dumps({"text_mb": size / 1e6, "one": one, "two": two, "ratio": ratio}), flush=True
        )
        if args.ranks:
            write(many, args.ranks, args.operators)
            print(json.dumps({"ranks": args.ranks, **measure(many, 2, set(cores))}))


if __name__ == "__main__":
    main()
