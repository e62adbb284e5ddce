"""What the parts of a report are called, in words that terminal, page and reference share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping


class Word(Struct, frozen=True):
    """A label and what it means.

    Attributes:
        label: What stands beside a bar or above a figure.
        sentence: One sentence that says exactly what was measured.
    """

    label: str
    sentence: str


PARTS: Final[Mapping[str, Word]] = {
    "compute": Word("compute", "A kernel that is not communication runs on the device."),
    "communication": Word(
        "communication", "Only communication between ranks runs, hidden behind no computation."
    ),
    "copy": Word("copy", "Only copies or memory sets run, hidden behind no kernel."),
    "input": Word("input", "The device is idle and the training thread waits for the DataLoader."),
    "sync": Word(
        "synchronisation", "The device is idle and refills after a call that waited for it."
    ),
    "host": Word(
        "host", "The device is idle while the host runs operators, launches kernels or runs Python."
    ),
    "allocator": Word(
        "allocator", "The device is idle while the host allocates or frees device memory."
    ),
    "other_rank": Word("other rank", "The device is idle and the host waits for another rank."),
    "unknown": Word("unknown", "The device is idle and the trace does not say why."),
}
"""Parts of a step with a device timeline."""

HOST: Final[Mapping[str, Word]] = {
    "input": Word("input", "The training thread waits for the DataLoader."),
    "forward": Word("forward", "Operators of the forward pass run, the loss included."),
    "backward": Word("backward", "Operators of the backward pass run."),
    "optimizer": Word("optimizer", "The optimizer's step or its zeroing of gradients runs."),
    "communication": Word("communication", "The training thread communicates with other ranks."),
    "other": Word("Python and rest", "Everything else: Python, logging, metrics, checkpoints."),
}
"""Parts of a step without a device timeline."""

OVERVIEW: Final[Mapping[str, Word]] = {
    "kernel": Word("Kernel", "A kernel runs on the device."),
    "memcpy": Word("Memcpy", "No kernel runs, a copy to, from or on the device does."),
    "memset": Word("Memset", "No kernel or copy runs, device memory is being set."),
    "communication": Word("Communication", "None of these runs, communication between ranks does."),
    "runtime": Word("Runtime", "The device is idle, the host is in a call of its runtime."),
    "dataloader": Word("DataLoader", "The host waits for the DataLoader."),
    "cpu_exec": Word("CPU Exec", "The host runs an operator."),
    "other": Word("Other", "None of these was recorded."),
}
"""The classic overview, in order of priority."""

GPU: Final[Mapping[str, Word]] = {
    "busy": Word(
        "GPU utilisation",
        "Share of the time inside the steps in which at least one kernel, copy or set runs. It says "
        "that the GPU has something to do, not that it is used well.",
    ),
    "sm_efficiency": Word(
        "Est. SM efficiency",
        "Share of the time inside the steps, weighted by how many of the multiprocessors (SMs) a "
        "kernel's blocks can fill. Far below the utilisation: the kernels are too small.",
    ),
    "occupancy": Word(
        "Est. achieved occupancy",
        "Active warps over the most that an SM can hold, averaged over kernel time. Above about "
        "50 % more rarely helps; matrix products run well with less.",
    ),
    "tensor_core": Word(
        "Tensor Core share",
        "Share of kernel time in kernels that use Tensor Cores (matrix cores). Near 0 % with large "
        "matrix products: mixed precision or TF32 is off.",
    ),
}
"""Device figures; the sentences say the denominator."""

REGIMES: Final[Mapping[str, str]] = {
    "input": "Input-bound",
    "host": "Host-bound",
    "sync": "Synchronisation",
    "copy": "Copy-bound",
    "compute": "Compute-bound",
    "communication": "Communication-bound",
    "straggler": "Straggler",
    "memory": "Memory",
    "startup": "Start-up",
    "device-unused": "Device unused",
    "not-recorded": "Not recorded",
    "healthy": "Healthy",
}
"""Regimes as a heading."""

SOURCES: Final[Mapping[str, str]] = {
    "profiler-step": "ProfilerStep marks",
    "annotation": "annotations in the trace",
    "optimizer": "calls of the optimizer",
    "dataloader": "fetches from the DataLoader",
    "repetition": "repetition of the same work",
    "window": "nothing: no steps could be told apart",
}
"""What steps were found by, after "found by"."""

BASES: Final[Mapping[str, str]] = {
    "replay": "replay of the recorded step",
    "pipeline-model": "model of the input pipeline",
    "roofline": "roofline of the device",
    "run-account": "account of the whole run",
    "bound": "upper bound from the measured share",
    "experiment": "measured by experiment",
}
"""What a gain rests on."""


def part_word(name: str, *, has_device: bool) -> Word:
    """The word for a part of a step; a name that this version does not know stands for itself."""
    return (PARTS if has_device else HOST).get(name, Word(name, ""))
