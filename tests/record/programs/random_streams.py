"""Two hundred steps with shuffling, augmentation in workers and dropout; prints every loss and every stream."""

import random

import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        return torch.full((8,), index / 400) + torch.randn(8) * random.random()


def main():
    torch.manual_seed(0)
    random.seed(0)
    loader = DataLoader(Noisy(), batch_size=4, shuffle=True, num_workers=2, persistent_workers=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(2):
        for batch in loader:
            loss = model(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
    print(torch.rand(1).item().hex(), random.random().hex())
    print(sum(weight.double().sum().item() for weight in model.parameters()).hex())


if __name__ == "__main__":
    main()
