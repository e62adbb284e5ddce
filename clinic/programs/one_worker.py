"""Planted: one worker waits for storage. Fixed: as many as recommended, else six."""

import time

import torch
from model import BATCH, CLASSES, STEPS, WIDTH, make_model, options, train, workers_of_twin
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    """Samples of a storage that takes 1 ms to answer."""

    def __len__(self):
        return BATCH * STEPS

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.full((WIDTH,), index % 7 / 7), index % CLASSES


if __name__ == "__main__":
    workers = workers_of_twin(6) if options().fixed else 1
    train(make_model(), DataLoader(Slow(), batch_size=BATCH, num_workers=workers))
