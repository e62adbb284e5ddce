"""Contexts made by hand: a healthy run with what a rule looks at replaced."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from stepscope.advice.base import Context
from stepscope.analysis.partition import Partition
from stepscope.analysis.results import run_all
from stepscope.schema.report import DEVICE_PARTS, HOST_PARTS
from tests.analysis.made import A100, call, kernel, note, op, trace

STEP_NS = 1_000_000
COUNT = 6


def healthy_run():
    """Six steps of one millisecond that compute all the time on Tensor Cores."""
    hosts, devices = [], []
    for number in range(COUNT):
        at = number * 1000
        hosts += [
            note(f"ProfilerStep#{number}", at, at + 1000),
            op("aten::mm", at + 10, at + 50),
            call("cudaLaunchKernel", at + 20, at + 30, number + 1),
        ]
        more = {"blocks_per_sm": 4.0, "occupancy_percent": 50.0}
        devices.append(
            kernel(at, at + 1000, number + 1, "ampere_bf16_s16816gemm_bf16_128x128", **more)
        )
    edges = [(1000 * number, 1000 * number + 1000) for number in range(COUNT)]
    return run_all(trace(hosts, devices, steps=edges, window=(0, 1000 * COUNT), listed=(A100,)))


HEALTHY = healthy_run()


def partition_of(parts, names=DEVICE_PARTS, steps=COUNT):
    """Equal steps with the given shares; the rest computes."""
    row = [round(parts.get(name, 0.0) * STEP_NS) for name in names]
    row[names.index("compute" if "compute" in names else "forward")] += STEP_NS - sum(row)
    return Partition(names, np.array([row] * steps, dtype=np.int64), np.ones(steps, dtype=np.bool_))


def context(parts=None, *, on_host=False, windows=False, waiting=None, ranks=1, **changes):
    """A healthy run with these shares of the steady step, and these results in place of its own.

    A change is a dictionary of fields of the result of that name, or a whole result.
    """
    results = HEALTHY
    changed = {"partition": partition_of(parts or {}, HOST_PARTS if on_host else DEVICE_PARTS)}
    for name, change in changes.items():
        old = getattr(results, name)
        changed[name] = replace(old, **change) if isinstance(change, dict) else change
    if windows:
        changed["spread"] = replace(results.spread, are_steps=False)
    return Context(replace(results, **changed), ranks, waiting)


def without_steady_steps():
    """All steps are start-up."""
    none = np.zeros(COUNT, dtype=np.bool_)
    share = {"ns": COUNT * STEP_NS, "steps": COUNT}
    return context(
        partition=replace(partition_of({"host": 0.9}), is_steady=none),
        spread={"is_steady": none, "steady_mean_ns": None},
        startup=share,
    )
