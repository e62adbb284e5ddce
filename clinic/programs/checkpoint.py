"""Planted: the model is written to disk in every step. Fixed: in every hundredth."""

import tempfile
from pathlib import Path

import torch
from model import batches, make_model, options, train

every = 100 if options().fixed else 1
steps = 0

with tempfile.TemporaryDirectory() as folder:

    def save(model, outputs, labels, loss):
        """Write all weights."""
        global steps
        steps += 1
        if steps % every == 0:
            torch.save(model.state_dict(), Path(folder) / "last.pt")

    train(make_model(), batches(), after=save)
