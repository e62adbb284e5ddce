"""What the recorder costs outside its windows: the same loop with and without it, in turn, in one process.

usage: python benchmarks/record_cost.py [--blocks N] [--steps N] [--json FILE]

Each block of steps runs once plainly and once recorded, after the recorder's windows are over; a step's cost is
the difference of the medians of both, in processor time of the training thread, which a machine that steals
time does not change. Two loops: a tiny model on tensors in memory, and the same with a DataLoader. The start and
the end of a run are timed too, without windows, analysis and report.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import torch  # noqa: TID251  (it measures what users run)
from torch.utils.data import DataLoader, TensorDataset  # noqa: TID251

import stepscope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SETTLING = 60
"""Steps until the recorder's windows are over, with the counts given below."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one loop costs.

    Attributes:
        loop: Its name.
        plain_us: Processor time of a plain step, median over the blocks.
        recorded_us: The same with the recorder, outside its windows.
        added_us: Median over the blocks of the difference of each pair.
        start_ms, end_ms: Wall time added at the start and at the end of a recording, medians.
    """

    loop: str
    plain_us: float
    recorded_us: float
    added_us: float
    start_ms: float
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
    """Measure both loops and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    costs = [
        measure(name, batches, options.blocks, options.steps)
        for name, batches in (("in memory", in_memory), ("DataLoader", by_loader))
    ]
    for cost in costs:
        print(
            f"{cost.loop:12} plain {cost.plain_us:7.1f} us  recorded {cost.recorded_us:7.1f} us  "
            f"added {cost.added_us:5.1f} us a step  start {cost.start_ms:.0f} ms  end {cost.end_ms:.0f} ms"
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(cost) for cost in costs], indent=1) + "\n")
    return 0


def measure(
    name: str, batches: Callable[[int], Iterator[torch.Tensor]], blocks: int, steps: int
) -> Cost:
    """Run the blocks in turn."""
    plain, recorded, starts, ends = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for block in range(blocks):
            plain.append(step_us(batches, steps))
            before = time.perf_counter()
            recording = stepscope.profile(
                out=Path(folder) / str(block), warmup=2, clean=3, active=2, analyze=False
            )
            recording.__enter__()
            starts.append((time.perf_counter() - before) * 1e3)
            recorded.append(step_us(batches, steps))
            before = time.perf_counter()
            recording.__exit__(None, None, None)
            ends.append((time.perf_counter() - before) * 1e3)
    return Cost(
        loop=name,
        plain_us=median(plain),
        recorded_us=median(recorded),
        added_us=median(b - a for a, b in zip(plain, recorded, strict=True)),
        start_ms=median(starts),
        end_ms=median(ends),
    )


def step_us(batches: Callable[[int], Iterator[torch.Tensor]], steps: int) -> float:
    """Processor time of one step of a small model, median over the steps after the windows."""
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
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
    return median(spent[SETTLING:]) / 1e3


if __name__ == "__main__":
    sys.exit(main())
