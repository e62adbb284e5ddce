"""An ordinary loop under Accelerate that records itself; `stepscope profile` needs no change to it."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

import stepscope

accelerator = Accelerator()
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(400, 8)), batch_size=4, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
with stepscope.profile():
    for (inputs,) in loader:
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
