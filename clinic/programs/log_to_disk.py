"""Planted: a line of JSON is forced to disk in every step. Fixed: in every hundredth."""

import json
import os
import tempfile

from model import batches, make_model, options, train

every = 100 if options().fixed else 1
steps = 0

with tempfile.TemporaryFile("w") as log:

    def write(model, outputs, labels, loss):
        """Write outputs and loss and wait for the disk."""
        global steps
        steps += 1
        if steps % every:
            return
        log.write(json.dumps({"loss": loss, "outputs": outputs.tolist()}) + "\n")
        log.flush()
        os.fsync(log.fileno())

    train(make_model(), batches(), after=write)
