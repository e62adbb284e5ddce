"""The training loops in which it is measured what a recorder adds to a step, and how: each with and without it, by turns."""

from __future__ import annotations

import argparse
import os
import socket
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import torch  # noqa: TID251  (it measures what users run)
from torch import distributed  # noqa: TID251
from torch.nn.parallel import DistributedDataParallel  # noqa: TID251
from torch.utils.data import DataLoader, TensorDataset  # noqa: TID251

from stepscope.units import NS_PER_MS, NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

STEP_US = 5_000
"""The step that the limits speak of."""

SETTLING = 100
"""Steps until a recorder's windows are over and it has seen enough to take the rest for usual."""

TOGETHER = 128
"""In so many steps a recorder counts at least once what it has noted."""

BALLAST = 8_000_000
"""Numbers that are gone through between two steps, which takes some milliseconds and leaves the processor's caches cold."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A training loop around a tiny model.

    Attributes:
        name: What it is called in the table.
        has_loader: Whether batches come from a DataLoader in the training process, else they lie in memory.
        is_parallel: Whether the model is data-parallel (gloo, one process).
        is_cold: Whether the caches are cold at the beginning of each step, as after some milliseconds of a larger
            model; the time that this takes is left out.
    """

    name: str
    has_loader: bool = False
    is_parallel: bool = False
    is_cold: bool = False

    def batches(self, steps: int) -> Iterator[torch.Tensor]:
        """So many batches."""
        if not self.has_loader:
            batch = torch.ones(16, 16)
            for _ in range(steps):
                yield batch
            return
        data = TensorDataset(torch.ones(16 * steps, 16))
        for (batch,) in DataLoader(data, batch_size=16):
            yield batch

    def step_us(self, steps: int) -> tuple[float, float]:
        """Processor time of the training thread for one step after the first ones.

        The median, and the least mean of ``TOGETHER`` steps in a row, which holds what is done once in many steps.
        """
        model: torch.nn.Module = torch.nn.Sequential(
            torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)
        )
        if self.is_parallel:
            model = DistributedDataParallel(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        ballast = torch.zeros(BALLAST if self.is_cold else 0)
        spent = []
        begin = time.thread_time_ns()
        for batch in self.batches(steps + SETTLING):
            loss = model(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            end = time.thread_time_ns()
            spent.append(end - begin)
            ballast.add_(1)
            begin = time.thread_time_ns()
        later = spent[SETTLING:]
        sums = [
            sum(later[at : at + TOGETHER]) for at in range(0, len(later) - TOGETHER + 1, TOGETHER)
        ]
        return median(later) / NS_PER_US, min(sums) / TOGETHER / NS_PER_US


IN_MEMORY = Loop("in memory")
WITH_LOADER = Loop("DataLoader", has_loader=True)
COLD = Loop("DataLoader, cold", has_loader=True, is_cold=True)
PARALLEL = Loop("data-parallel", has_loader=True, is_parallel=True)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a recorder costs in one loop.

    Attributes:
        loop: Its name.
        plain_us, recorded_us: Processor time of a plain and of a recorded step: the median of a block's steps, of the
            block in which it is least, because others that use the machine only add to it.
        added_us: The difference of both.
        added_mean_us: The same of the least means of ``TOGETHER`` steps.
        share: The larger of both as a share of a step of 5 ms.
        begin_ms, end_ms: Wall time added at the start and at the end of a run, medians over the blocks.
    """

    loop: str
    plain_us: float
    recorded_us: float
    added_us: float
    added_mean_us: float
    share: float
    begin_ms: float
    end_ms: float

    def line(self) -> str:
        """One line of a table."""
        return (
            f"{self.loop:16} plain {self.plain_us:7.1f} us  recorded {self.recorded_us:7.1f} us  "
            f"added {self.added_us:5.1f} us a step (of the means {self.added_mean_us:5.1f} us) = {self.share:.3%} of 5 ms  "
            f"begin {self.begin_ms:.0f} ms  end {self.end_ms:.0f} ms"
        )


def cost_of(
    loop: Loop, record: Callable[[Path], AbstractContextManager[object]], blocks: int, steps: int
) -> Cost:
    """Run blocks of a loop by turns plainly and recorded into a folder."""
    plain, recorded, begins, ends = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for block in range(blocks):
            plain.append(loop.step_us(steps))
            recording = record(Path(folder) / str(block))
            before = time.perf_counter_ns()
            recording.__enter__()
            begins.append((time.perf_counter_ns() - before) / NS_PER_MS)
            recorded.append(loop.step_us(steps))
            before = time.perf_counter_ns()
            recording.__exit__(None, None, None)
            ends.append((time.perf_counter_ns() - before) / NS_PER_MS)
    plain_us, recorded_us = min(one[0] for one in plain), min(one[0] for one in recorded)
    mean_us = min(one[1] for one in recorded) - min(one[1] for one in plain)
    return Cost(
        loop=loop.name,
        plain_us=plain_us,
        recorded_us=recorded_us,
        added_us=recorded_us - plain_us,
        added_mean_us=mean_us,
        share=max(recorded_us - plain_us, mean_us) / STEP_US,
        begin_ms=median(begins),
        end_ms=median(ends),
    )


@contextmanager
def one_process_group() -> Iterator[None]:
    """A gloo group of this process alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free.getsockname()[1]))
    distributed.init_process_group("gloo", rank=0, world_size=1)
    try:
        yield
    finally:
        distributed.destroy_process_group()


def options_of(description: str | None) -> argparse.Namespace:
    """What is asked for: ``blocks``, ``steps`` and ``json``."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()
