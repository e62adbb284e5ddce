"""A compiled model on the CPU."""

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (inputs,) in DataLoader(TensorDataset(torch.randn(160, 8)), batch_size=4):
    loss = compiled(inputs).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(repr(loss.item()))
"""Its backend needs no compiler of C++ on the machine."""
