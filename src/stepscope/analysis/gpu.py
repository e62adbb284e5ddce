"""How much the devices worked and how well they were filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import intervals as iv
from stepscope.trace import kernel_names
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace

LEAST_COVERAGE = 0.5
"""An estimate rests on at least this share of the kernel time; below, it is not given."""

MOST_UNTOLD = 0.2
"""A Tensor Core share is not given when names leave open more than this share of the kernel time."""


class Gpu(Struct, frozen=True):
    """Figures of the devices that the rank used; all ``None`` or 0 without device work.

    Attributes:
        devices: Numbers of the devices that worked.
        busy_ns: Union of all device work in the file, summed over devices.
        busy_frac: Device work inside the steps (else the windows) over their length, averaged over devices.
        sm_efficiency_frac: Integral of ``min(blocks per SM of the running kernels, 1)`` over the steps
            divided by their length, as the TensorBoard plugin estimated it, averaged over devices.
        occupancy_frac: Estimated achieved occupancy, weighted by the kernels' time inside the steps.
        tensor_core_frac: Share of kernel time in kernels that use Tensor Cores or matrix cores.
        matrix_frac: Share of kernel time in kernels that multiply matrices or convolve.
        plain_matrix_frac: Share of kernel time in such kernels that certainly use no Tensor Cores.
        kernel_count: Kernels in the file.
        kernel_ns: Their summed duration.
        tail_ns: Device work after the last step of its window, as a union; ``None`` without steps.
    """

    devices: tuple[int, ...]
    busy_ns: int | None
    busy_frac: float | None
    sm_efficiency_frac: float | None
    occupancy_frac: float | None
    tensor_core_frac: float | None
    matrix_frac: float | None
    plain_matrix_frac: float | None
    kernel_count: int
    kernel_ns: int
    tail_ns: int | None


NO_GPU = Gpu((), None, None, None, None, None, None, None, 0, 0, None)
"""A trace without device work."""


def run(trace: Trace) -> Gpu:
    """Device figures of one rank."""
    device = trace.device
    if device.is_empty():
        return NO_GPU
    scope = scope_of(trace)
    steps = scope.set
    numbers = tuple(sorted(device.get_column("device").unique().to_list()))
    busy = [iv.of(device.filter(pl.col("device") == number)) for number in numbers]
    kernels = device.filter(device.get_column("kind").cast(pl.String) == "kernel")
    cores = _matrix_shares(kernels)
    length = iv.total(steps)
    busy_inside = sum(int(iv.measure(one, steps).sum()) for one in busy)
    return Gpu(
        devices=numbers,
        busy_ns=sum(iv.total(one) for one in busy),
        busy_frac=busy_inside / length / len(numbers) if length else None,
        sm_efficiency_frac=_sm_efficiency(kernels, steps, len(numbers)),
        occupancy_frac=_occupancy(kernels, steps),
        tensor_core_frac=cores[0],
        matrix_frac=cores[1],
        plain_matrix_frac=cores[2],
        kernel_count=len(kernels),
        kernel_ns=int((kernels["end_ns"] - kernels["start_ns"]).sum()),
        tail_ns=_tail(iv.union(*busy), scope.bounds) if scope.are_steps else None,
    )


def _inside(frame: pl.DataFrame, steps: Ints) -> Ints:
    """How long each row lies inside the steps, shape ``(len(frame),)``."""
    rows = iv.pairs(frame["start_ns"].to_numpy(), frame["end_ns"].to_numpy())
    return iv.measure(steps, rows)


def _sm_efficiency(kernels: pl.DataFrame, steps: Ints, devices: int) -> float | None:
    known = kernels.filter(pl.col("blocks_per_sm").is_finite())
    length = iv.total(steps)
    if not _covers(known, kernels, steps) or not length:
        return None
    filled = 0.0
    for _, one in known.group_by("device"):
        spans = iv.pairs(one["start_ns"].to_numpy(), one["end_ns"].to_numpy())
        filled += iv.level_integral(spans, one["blocks_per_sm"].to_numpy(), 1.0, steps)
    return filled / length / devices


def _occupancy(kernels: pl.DataFrame, steps: Ints) -> float | None:
    known = kernels.filter(pl.col("occupancy_percent").is_finite())
    if not _covers(known, kernels, steps):
        return None
    weights = _inside(known, steps)
    return float(np.average(known["occupancy_percent"].to_numpy(), weights=weights)) / 100


def _covers(known: pl.DataFrame, kernels: pl.DataFrame, steps: Ints) -> bool:
    part, whole = int(_inside(known, steps).sum()), int(_inside(kernels, steps).sum())
    return part > 0 and part >= LEAST_COVERAGE * whole


def _matrix_shares(kernels: pl.DataFrame) -> tuple[float | None, float | None, float | None]:
    """Shares of kernel time: on Tensor Cores, in matrix kernels, in matrix kernels without Tensor Cores."""
    if kernels.is_empty():
        return None, None, None
    whole = int((kernels["end_ns"] - kernels["start_ns"]).sum())
    if not whole:
        return None, None, None
    times = (
        kernels.filter(~pl.col("is_communication"))
        .group_by("name")
        .agg((pl.col("end_ns") - pl.col("start_ns")).sum().alias("spent"))
    )
    names = times["name"].cast(pl.String).to_list()
    spent = times["spent"].to_numpy()
    on_cores = [kernel_names.uses_tensor_cores(name) for name in names]
    is_matrix = np.array([kernel_names.is_matrix(name) for name in names], dtype=np.bool_)
    yes = np.array([answer is True for answer in on_cores], dtype=np.bool_)
    untold = np.array([answer is None for answer in on_cores], dtype=np.bool_)
    share = float(spent[yes].sum()) / whole
    told = float(spent[untold].sum()) <= MOST_UNTOLD * whole
    return (
        share if told else None,
        float(spent[is_matrix].sum()) / whole,
        float(spent[is_matrix & ~yes & ~untold].sum()) / whole,
    )


def _tail(busy: Ints, bounds: Ints) -> int:
    """Device work after the last step of the file."""
    last = int(bounds[:, 1].max())
    return iv.total(iv.clip(busy, last, np.iinfo(np.int64).max))


ANALYSIS = Analysis(
    "gpu", run, "Device utilisation, SM efficiency, occupancy and Tensor Core share."
)
