"""Raises in the middle of training, from inside the data set."""

import torch
from torch.utils.data import DataLoader, Dataset


class Broken(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        if index >= 48:
            raise RuntimeError(f"item {index} is broken")
        return torch.zeros(4)


torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in DataLoader(Broken(), batch_size=4):
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
    print(loss.item())
