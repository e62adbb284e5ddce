"""A DataLoader with workers, shuffling and random augmentation, several epochs."""

import argparse
import random
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(8, generator=generator) + 0.01 * torch.randn(8), float(index % 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--context", default=None)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--out", help="an argument that stepscope has too")
    options = parser.parse_args()
    random.seed(3)
    np.random.seed(4)
    torch.manual_seed(5)
    loader = DataLoader(
        Noise(),
        batch_size=4,
        shuffle=True,
        num_workers=options.workers,
        multiprocessing_context=options.context,
    )
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters())
    step = 0
    while step < options.steps:
        for inputs, targets in loader:
            loss = (model(inputs).squeeze(1) - targets.float()).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 20 == 0:
                print("step", step, repr(loss.item()))
            if step == options.steps:
                break
    print("streams", random.random(), np.random.rand(), torch.rand(1).item())
    print("identity", __name__, __file__, sys.argv, sys.path[0])


if __name__ == "__main__":
    main()
