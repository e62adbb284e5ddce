"""Train a small classifier on made-up digits, as a plain script does; it knows nothing of stepscope.

Run it with ``python examples/train_digits.py``, then with ``stepscope profile examples/train_digits.py``.
"""

from __future__ import annotations

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class MadeDigits(Dataset[tuple[torch.Tensor, int]]):
    """Noisy 28 x 28 images with one bright bar a class."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        """Number of images."""
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        """An image, shape (1, 28, 28), and its class."""
        label = index % 10
        image = torch.rand(1, 28, 28, generator=torch.Generator().manual_seed(index))
        image[:, 2 * label + 4] += 1
        return image, label


def main() -> None:
    """Train, and print the last loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = DataLoader(MadeDigits(2048), batch_size=64, num_workers=options.workers)
    loss = torch.zeros(())
    for _ in range(options.epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
