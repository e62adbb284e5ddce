"""Fully sharded training over gloo; rank and size come from the launcher."""

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

torch.set_num_threads(1)
distributed.init_process_group("gloo")
torch.manual_seed(0)
mesh = init_device_mesh("cpu", (distributed.get_world_size(),))
model = nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 1))
for layer in model:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    loss = model(torch.ones(4, 8) * step).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
if distributed.get_rank() == 0:
    print("loss", repr(loss.item()), flush=True)
distributed.destroy_process_group()
