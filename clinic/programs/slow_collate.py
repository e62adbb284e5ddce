"""Planted: every batch is put together number by number. Fixed: it is stacked."""

import torch
from model import BATCH, CLASSES, STEPS, WIDTH, make_model, options, train
from torch.utils.data import DataLoader

ROWS = [[float((row * column) % 7) for column in range(WIDTH)] for row in range(32)]
TENSORS = [torch.tensor(row) for row in ROWS]


def by_number(indices):
    """A list of lists of Python numbers."""
    return torch.tensor([[x / 7 for x in ROWS[i % 32]] for i in indices]), torch.tensor(
        [i % CLASSES for i in indices]
    )


def stacked(indices):
    """The same from tensors."""
    return torch.stack([TENSORS[i % 32] for i in indices]) / 7, torch.tensor(
        [i % CLASSES for i in indices]
    )


if __name__ == "__main__":
    collate = stacked if options().fixed else by_number
    train(
        make_model(),
        DataLoader(range(BATCH * STEPS), batch_size=BATCH, collate_fn=collate),
    )
