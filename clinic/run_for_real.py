"""The cases that run for real, on the CPU."""

from __future__ import annotations

from clinic.case import Program

CASES = (
    Program(
        "slow-storage",
        "each sample waits for storage, in the training process",
        "IN001",
        "slow_storage.py",
    ),
    Program(
        "one-worker",
        "one worker for a storage that answers four at a time",
        "IN002",
        "one_worker.py",
    ),
    Program(
        "slow-collate",
        "a batch is put together element by element in Python",
        "IN001",
        "slow_collate.py",
    ),
    Program(
        "metrics-every-step",
        "a confusion matrix in Python in every step",
        "HO001",
        "metrics.py",
    ),
    Program(
        "log-to-disk",
        "a line of JSON with all outputs is forced to disk in every step",
        "HO001",
        "log_to_disk.py",
    ),
    Program(
        "tokens-in-training",
        "text becomes tokens in the training loop",
        "HO001",
        "tokens.py",
    ),
    Program(
        "checkpoint-every-step",
        "the model is written to disk in every step",
        "HO001",
        "checkpoint.py",
    ),
)

HEALTHY = (
    Program("healthy-cpu", "", "", "healthy.py"),
    Program("healthy-cpu-loader", "", "", "slow_storage.py", ("--fixed",)),
)
