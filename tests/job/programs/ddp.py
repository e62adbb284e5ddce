"""A small data-parallel training on gloo, one rank of which is slowed: ddp.py FOLDER RANK WORLD KIND SLOW."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import distributed, nn
from torch.profiler import ProfilerActivity, profile, schedule

STEPS, WARMUP, ACTIVE, BATCH = 12, 3, 9, 8
SLOW_S = 0.08
BACKWARD_S = 0.2


class Data(torch.utils.data.Dataset[Any]):
    """Random samples, each of which takes a while."""

    def __init__(self, wait_s):
        self.wait_s = wait_s

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        time.sleep(self.wait_s)
        return torch.randn(64), torch.randn(64)


class Net(nn.Module):
    """Four layers, and extra matrix products for a while."""

    def __init__(self, extra_s):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)])
        self.heavy = torch.randn(256, 256)
        self.extra_s = extra_s

    def forward(self, x):
        until = time.perf_counter() + self.extra_s
        while time.perf_counter() < until:
            torch.mm(self.heavy, self.heavy)
        return self.layers(x)


def main(folder, rank, world, kind):
    """Trains and exports the trace; ``kind`` is what this rank is slow in."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=world
    )
    net = Net(SLOW_S if kind == "compute" else 0)
    model = nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.02)
    if kind == "backward":
        net.layers.get_parameter("1.weight").register_hook(lambda _: time.sleep(BACKWARD_S))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = Data(SLOW_S / BATCH if kind == "input" else 0)
    trace = Path(folder, f"rank{rank}.pt.trace.json")
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=WARMUP, active=ACTIVE),
        on_trace_ready=lambda made: made.export_chrome_trace(str(trace)),
    ) as profiler:
        for x, y in torch.utils.data.DataLoader(data, batch_size=BATCH):
            until = time.perf_counter() + (SLOW_S if kind == "host" else 0)
            while time.perf_counter() < until:
                pass
            loss = (model(x) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            profiler.step()
    distributed.destroy_process_group()


if __name__ == "__main__":
    given, number, ranks, what, slow = sys.argv[1:]
    main(given, int(number), int(ranks), what if number == slow else "nothing")
