"""A compiled data-parallel model with buffers; prints its losses and what the compiler made of it."""

import sys
import tempfile

import torch
from torch import distributed, nn
from torch._dynamo.utils import counters
from torch.nn.parallel import DistributedDataParallel

torch.manual_seed(0)
with tempfile.NamedTemporaryFile() as store:
    distributed.init_process_group("gloo", init_method=f"file://{store.name}", rank=0, world_size=1)
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 1))
    )
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(int(sys.argv[1])):
        loss = compiled(torch.randn(4, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = torch.ones(1)
        distributed.all_reduce(total)
        print(loss.item().hex(), total.item())
    print(sorted(counters["graph_break"].values()), counters["stats"]["unique_graphs"])
    distributed.destroy_process_group()
