"""Words of the Report: regimes, grades and the parts of a step."""

from __future__ import annotations

from typing import Literal

Regime = Literal[
    "input",
    "host",
    "sync",
    "copy",
    "compute",
    "communication",
    "straggler",
    "memory",
    "startup",
    "device-unused",
    "not-recorded",
    "healthy",
]
Severity = Literal["high", "medium", "low"]
Confidence = Literal["high", "medium", "low"]
StepSource = Literal[
    "profiler-step", "annotation", "optimizer", "dataloader", "repetition", "window"
]

DEVICE_PARTS = (
    "compute",
    "communication",
    "copy",
    "input",
    "sync",
    "host",
    "allocator",
    "other_rank",
    "unknown",
)
"""Parts of a step with a device timeline, in the order in which they are shown."""

HOST_PARTS = ("input", "forward", "backward", "optimizer", "communication", "other")
"""Parts of a step without a device timeline."""

OVERVIEW_PARTS = (
    "kernel",
    "memcpy",
    "memset",
    "communication",
    "runtime",
    "dataloader",
    "cpu_exec",
    "other",
)
"""The classic overview of the TensorBoard plugin, as an exclusive cover in this order of priority."""

PATH_PARTS = (
    "compute",
    "communication",
    "copies",
    "latency",
    "launches",
    "operators",
    "python",
    "pauses",
    "input",
    "allocator",
    "profiler",
    "unexplained",
)
"""Parts of a critical path, in the order in which they are shown."""
