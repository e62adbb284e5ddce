"""A job of many generated ranks of 20 MB each: time on one and two cores, and peak memory of all processes.

usage: python benchmarks/many_ranks.py [--ranks 512] [--folder DIR] [--speed-ranks 32]

Ranks share their events, but for the slow one; each file has its own header. Memory is the sum over the
process and its children of the proportional set size (pages that processes share count once), read ten
times a second. The machine should be idle: with other programs on its cores the ratio of times says little.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from stepscope.testing import A100, Group, Setup, TraceBuilder

MS = 1_000_000
STEPS, OPERATORS = 8, 2_700
SLOW, SLOW_NS = 3, 30 * MS
COMMAND = [sys.executable, "-m", "stepscope", "analyze", "--no-text", "--json", os.devnull]


def bodies(world: int) -> tuple[str, str]:
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
                for at in range(OPERATORS):
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


def write(folder: Path, world: int) -> int:
    """Writes all ranks; returns the size of one as text."""
    texts = bodies(world)
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
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory(dir=args.folder) as made:
        few, many = Path(made, "few"), Path(made, "many")
        few.mkdir()
        many.mkdir()
        size = write(few, args.speed_ranks)
        one, two = measure(few, 1, {cores[0]}), measure(few, 2, set(cores))
        ratio = one["s"] / two["s"]
        print(
            json.dumps({"text_mb": size / 1e6, "one": one, "two": two, "ratio": ratio}), flush=True
        )
        if args.ranks:
            write(many, args.ranks)
            print(json.dumps({"ranks": args.ranks, **measure(many, 2, set(cores))}))


if __name__ == "__main__":
    main()
