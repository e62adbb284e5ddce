"""Evaluation before and after training, which accumulates gradients and steps by a schedule."""

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(360, 8), torch.randn(360, 1))
training = DataLoader(data, batch_size=4, shuffle=True)
validation = DataLoader(data, batch_size=8)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.9)


@torch.no_grad()
def evaluate():
    return sum((model(inputs) - targets).square().sum().item() for inputs, targets in validation)


print("before", repr(evaluate()))
for epoch in range(2):
    for number, (inputs, targets) in enumerate(training):
        loss = (model(inputs) - targets).square().mean() / 3
        loss.backward()
        if number % 3 == 2:
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
    print("epoch", epoch, repr(loss.item()), repr(evaluate()))
