"""Data-parallel training over gloo; rank and size come from the launcher, the slow rank from the arguments."""

import sys
import time

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
distributed.init_process_group("gloo")
rank = distributed.get_rank()
slow = int(sys.argv[1]) if len(sys.argv) > 1 else -1
workers = int(sys.argv[2]) if len(sys.argv) > 2 else 0
torch.manual_seed(0)
data = TensorDataset(torch.randn(240 * distributed.get_world_size(), 8))
loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data), num_workers=workers)
model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def planted_slow_backward(gradient):
    if rank == slow:
        time.sleep(0.03)
    return gradient


for (inputs,) in loader:
    outputs = model(inputs)
    outputs.register_hook(planted_slow_backward)
    loss = outputs.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
if rank == 0:
    print("loss", repr(loss.item()), flush=True)
distributed.destroy_process_group()
