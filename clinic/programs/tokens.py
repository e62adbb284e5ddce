"""Planted: text becomes tokens in the training loop. Fixed: it was made once before."""

import functools

import torch
from model import BATCH, CLASSES, batches, make_model, options, train

TEXT = " ".join(f"word{number % 97}" for number in range(500))


def tokens(line):
    """Split a line and give each word the number of its letters' sum."""
    return [sum(map(ord, word)) % CLASSES for word in f"{line} {TEXT}".split(" ")]


known = functools.lru_cache(maxsize=None)(tokens) if options().fixed else tokens


def prepare(inputs, labels):
    """Labels from text."""
    return inputs, torch.tensor([known(line)[line % 100] for line in range(BATCH)])


train(make_model(), batches(), prepare=prepare)
