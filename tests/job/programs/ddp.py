"""A small data-parallel training on gloo, one rank of which is slowed: python ddp.py FOLDER RANK WORLD KIND SLOW."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

STEPS, WARMUP, ACTIVE = 12, 3, 9
SLOW_S = 0.08
BACKWARD_S = 0.2


def main(folder, rank, world, kind, slow):
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch
    from torch import distributed, nn
    from torch.profiler import ProfilerActivity, profile, schedule

    torch.set_num_threads(1)
    torch.manual_seed(0)
    is_slow = rank == slow
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=world
    )

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return STEPS * 8

        def __getitem__(self, index):
            if is_slow and kind == "input":
                time.sleep(SLOW_S / 8)
            return torch.randn(64), torch.randn(64)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)])
            self.heavy = torch.randn(256, 256)

        def forward(self, x):
            if is_slow and kind == "compute":
                until = time.perf_counter() + SLOW_S
                while time.perf_counter() < until:
                    torch.mm(self.heavy, self.heavy)
            return self.layers(x)

    model = nn.parallel.DistributedDataParallel(Net(), bucket_cap_mb=0.02)
    if is_slow and kind == "backward":
        model.module.layers[1].weight.register_hook(lambda grad: time.sleep(BACKWARD_S))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(Data(), batch_size=8)
    trace = Path(folder, f"rank{rank}.pt.trace.json")
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=WARMUP, active=ACTIVE),
        on_trace_ready=lambda made: made.export_chrome_trace(str(trace)),
    ) as profiler:
        for x, y in loader:
            if is_slow and kind == "host":
                until = time.perf_counter() + SLOW_S
                while time.perf_counter() < until:
                    pass
            loss = (model(x) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            profiler.step()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
