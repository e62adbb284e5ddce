"""Ten thousand small steps with a loader in the training process."""

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
weight = torch.nn.Parameter(torch.zeros(4))
optimizer = torch.optim.SGD([weight], lr=0.1)
for (batch,) in DataLoader(TensorDataset(torch.randn(10_000, 4)), batch_size=None):
    weight.grad = batch
    optimizer.step()
print(repr(weight.sum().item()))
