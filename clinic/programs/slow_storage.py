"""Planted: each sample waits for storage, in the training process. Fixed: in as many workers as recommended, else four."""

import time

import torch
from model import BATCH, CLASSES, STEPS, WIDTH, make_model, options, train, workers_of_twin
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    """Samples of a storage that takes 0.2 ms to answer."""

    def __len__(self):
        return BATCH * STEPS

    def __getitem__(self, index):
        time.sleep(0.0002)
        return torch.full((WIDTH,), index % 7 / 7), index % CLASSES


if __name__ == "__main__":
    workers = workers_of_twin(4) if options().fixed else 0
    train(make_model(), DataLoader(Slow(), batch_size=BATCH, num_workers=workers))
