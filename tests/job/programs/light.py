"""Data-parallel training on gloo in light mode, one rank slowed by one thing after the other: light.py FOLDER RANK WORLD SLOW KIND...

For each kind a recording of its own, in FOLDER/KIND.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import distributed, nn

from stepscope.record.job import Job, JobOptions
from stepscope.record.plan import Plan

STEPS, BATCH = 50, 4
BASE_S, SLOW_S = 0.004, 0.03


class Data(torch.utils.data.Dataset[Any]):
    """Random samples, each of which takes a while."""

    def __init__(self, wait_s):
        self.wait_s = wait_s

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        time.sleep(self.wait_s)
        return torch.full((32,), index / 100)


class Net(nn.Module):
    """Three layers that take a while, and another while of matrix products."""

    def __init__(self, extra_s):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(32, 32) for _ in range(3)])
        self.heavy = torch.randn(64, 64)
        self.extra_s = extra_s

    def forward(self, x):
        time.sleep(BASE_S)
        until = time.perf_counter() + self.extra_s
        while time.perf_counter() < until:
            torch.mm(self.heavy, self.heavy)
        return self.layers(x)


def train(kind, folder):
    """One recording; ``kind`` is what this rank is slow in."""
    net = Net(SLOW_S if kind == "forward" else 0)
    model = nn.parallel.DistributedDataParallel(net)
    if kind == "backward":
        net.layers.get_parameter("1.weight").register_hook(lambda _: time.sleep(SLOW_S))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(Data(SLOW_S / BATCH if kind == "input" else 0), BATCH)
    for batch in loader:
        if kind == "host":
            time.sleep(SLOW_S)
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if kind == "checkpoint":
            torch.save(Slow(), folder / "checkpoint.pt")


class Slow:
    """A checkpoint that takes a while."""

    def __getstate__(self):
        time.sleep(SLOW_S)
        return {}


def main(folder, rank, world, slow, kinds):
    """Trains once for each kind."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=world
    )
    for kind in kinds:
        out = Path(folder, kind)
        out.mkdir(exist_ok=True)
        distributed.barrier()
        options = JobOptions(
            name=kind, command=("light",), plan=Plan(light=True), out=str(out), joins=True
        )
        job = Job(options)
        job.begin()
        train(kind if rank == slow else "nothing", out)
        job.end(None)
    distributed.destroy_process_group()


if __name__ == "__main__":
    given, number, ranks, late, *asked = sys.argv[1:]
    main(given, int(number), int(ranks), int(late), asked)
