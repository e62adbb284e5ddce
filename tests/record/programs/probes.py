"""Trains with one thing that is easily blamed on something else: python probes.py after|validation|loss|tiny."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

kind = sys.argv[1]
torch.manual_seed(0)
torch.set_num_threads(1)


class Slow(Dataset):
    """Items that wait as for a slow file system."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        time.sleep(0.02)
        return torch.full((64,), float(index))


def log(step):
    time.sleep(0.05)  # work after the step


def contrastive(features):
    similar = features @ features.T
    for _ in range(60):
        similar = torch.softmax(similar, dim=1)  # the costly loss
    return -similar.diagonal().log().mean()


WIDTHS = {"after": 4, "validation": 256, "loss": 64, "tiny": 4}
width, steps, size = WIDTHS[kind], 45, 256
model = torch.nn.Sequential(
    torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, width)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = torch.randn(steps, size, 64)
# Whole batches, so that reading one takes next to nothing.
training = DataLoader(
    TensorDataset(batches[:, :16] if kind == "tiny" else batches), batch_size=None
)
validation = DataLoader(Slow(), batch_size=4)
for step, (batch,) in enumerate(training):
    output = model(batch)
    loss = contrastive(output) if kind == "loss" else output.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if kind == "after":
        log(step)
    if kind == "validation" and step % 15 == 14:
        with torch.no_grad():
            for held_out in validation:
                model(held_out)
print(f"{kind} {loss.item():.6f}")
