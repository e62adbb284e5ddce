"""Data-parallel training on gloo whose rank 1 is slow in backward: torchrun --nproc-per-node 2 slow_rank.py."""

import os
import time

import torch
from torch import distributed, nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
distributed.init_process_group("gloo")
net = nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)])
model = nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.02)
if os.environ["RANK"] == "1":
    net.get_parameter("1.weight").register_hook(lambda _: time.sleep(0.1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = TensorDataset(torch.randn(40, 8, 64))
for (batch,) in DataLoader(data, batch_size=None):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
distributed.destroy_process_group()
