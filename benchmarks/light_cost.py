"""What the always-on light mode costs: the same loop with and without it, in turn, in one process.

usage: python benchmarks/light_cost.py [--blocks N] [--steps N] [--json FILE]

Each block of steps runs once plainly and once in light mode; a step's cost is the difference of the medians of both,
in processor time of the training thread, which a machine that steals time does not change. It is shown as a share of a
step of 5 ms, of which it may take 0.5 %. Three loops: a tiny model on tensors in memory, the same with a
DataLoader, and with DistributedDataParallel (gloo, one process). The size on disk is that of an hour of such steps with
varying parts, given to the writer one by one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import torch  # noqa: TID251  (it measures what users run)
from torch import distributed  # noqa: TID251
from torch.nn.parallel import DistributedDataParallel  # noqa: TID251
from torch.utils.data import DataLoader, TensorDataset  # noqa: TID251

from stepscope.record.job import Job, JobOptions
from stepscope.record.light_journal import LightJournal
from stepscope.record.plan import Plan
from stepscope.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEP_US = 5_000
"""The step that the limits speak of."""

MOST_SHARE = 0.005
MOST_BYTES_AN_HOUR = 1_000_000
SETTLING = 20


@dataclass(frozen=True, slots=True)
class Cost:
    """What one loop costs.

    Attributes:
        loop: Its name.
        plain_us: Processor time of a plain step, median over the blocks.
        light_us: The same in light mode.
        added_us: Median over the blocks of the difference of each pair.
        share: That of a step of 5 ms.
        begin_ms, end_ms: Wall time added at the start and at the end, medians.
    """

    loop: str
    plain_us: float
    light_us: float
    added_us: float
    share: float
    begin_ms: float
    end_ms: float


def in_memory(steps: int) -> Iterator[torch.Tensor]:
    """Batches that are there already."""
    batch = torch.ones(16, 16)
    for _ in range(steps):
        yield batch


def by_loader(steps: int) -> Iterator[torch.Tensor]:
    """The same through a DataLoader without workers."""
    data = TensorDataset(torch.ones(16 * steps, 16))
    for (batch,) in DataLoader(data, batch_size=16):
        yield batch


def main() -> int:
    """Measure all loops and print a table; 1 where a limit is not kept."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    loops = [("in memory", in_memory, False), ("DataLoader", by_loader, False)]
    costs = [measure(*loop, options.blocks, options.steps) for loop in loops]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free.getsockname()[1]))
    distributed.init_process_group("gloo", rank=0, world_size=1)
    costs.append(measure("data-parallel", by_loader, True, options.blocks, options.steps))
    distributed.destroy_process_group()
    for cost in costs:
        print(
            f"{cost.loop:14} plain {cost.plain_us:7.1f} us  light {cost.light_us:7.1f} us  added {cost.added_us:5.1f} us "
            f"a step = {cost.share:.3%} of 5 ms  begin {cost.begin_ms:.0f} ms  end {cost.end_ms:.0f} ms"
        )
    size = bytes_an_hour()
    print(f"an hour of steps of 5 ms: {size:,} bytes a rank")
    kept = size < MOST_BYTES_AN_HOUR and all(cost.share < MOST_SHARE for cost in costs)
    if options.json:
        document = {"costs": [asdict(cost) for cost in costs], "bytes_an_hour": size}
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if kept else 1


def measure(
    name: str,
    batches: Callable[[int], Iterator[torch.Tensor]],
    is_parallel: bool,
    blocks: int,
    steps: int,
) -> Cost:
    """Run the blocks in turn."""
    plain, light, begins, ends = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for block in range(blocks):
            plain.append(step_us(batches, is_parallel, steps))
            job = Job(
                JobOptions(
                    name="cost",
                    command=("cost",),
                    plan=Plan(light=True),
                    out=str(Path(folder) / str(block)),
                    analyze=False,
                    joins=True,
                )
            )
            (Path(folder) / str(block)).mkdir()
            before = time.perf_counter()
            job.begin()
            begins.append((time.perf_counter() - before) * 1e3)
            light.append(step_us(batches, is_parallel, steps))
            before = time.perf_counter()
            job.end(None)
            ends.append((time.perf_counter() - before) * 1e3)
    added = median(b - a for a, b in zip(plain, light, strict=True))
    return Cost(
        loop=name,
        plain_us=median(plain),
        light_us=median(light),
        added_us=added,
        share=added / STEP_US,
        begin_ms=median(begins),
        end_ms=median(ends),
    )


def step_us(
    batches: Callable[[int], Iterator[torch.Tensor]], is_parallel: bool, steps: int
) -> float:
    """Processor time of one step of a small model, median over the steps after the first ones."""
    model: torch.nn.Module = torch.nn.Sequential(
        torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)
    )
    if is_parallel:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    spent = []
    begin = time.thread_time_ns()
    for batch in batches(steps + SETTLING):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        end = time.thread_time_ns()
        spent.append(end - begin)
        begin = end
    return median(spent[SETTLING:]) / NS_PER_US


def bytes_an_hour() -> int:
    """Bytes that an hour of 5 ms steps leaves on disk."""
    draw = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        journal = LightJournal(Path(folder), ("cost",), 0, is_of_a_launcher=True)
        start = 0
        for number in range(3_600_000_000 // STEP_US):
            length = int(draw.gauss(STEP_US, 500)) * NS_PER_US
            journal.marks.passed_backward(0, 0)
            journal.step(number, "later", start, length, length // 7)
            start += length
        journal.finish(None)
        return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
