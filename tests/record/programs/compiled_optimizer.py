"""Trains with an optimizer whose step is compiled."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


@torch.compile(backend="eager")
def step():
    optimizer.step()


for _ in range(20):
    loss = model(torch.ones(4, 8)).sum()
    loss.backward()
    step()
    optimizer.zero_grad()
print(loss.item())
