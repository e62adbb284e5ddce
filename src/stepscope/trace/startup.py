"""Which steps are start-up: filled by first calls, or by the device's queue while it fills.

Context creation, loading of modules, the search for convolution algorithms, compilation and the start
of loader workers happen once. Figures of a steady run must leave them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.matching import matches
from stepscope.units import NS_PER_MS

if TYPE_CHECKING:
    from stepscope.trace.model import Trace

FIRST_CALLS = (
    r"(?i)^(cu|hip)(Init|Module(Load|Get)|Library(Load|Get))|^(cuda|hip)(GetDeviceProperties|StreamCreate)|"
    r"Lazy Function Loading|Module Loading|Driver Compiler|ncclCommInit|"
    r"_compile\.|compile_fx|compile_inner|CachingAutotuner|inductor_codecache|\(dynamo_timed\)|"
    r"benchmark_all_configs|^Optimizer\._init_group"
)
"""Calls that a steady step does not make."""

FAR = 3.0
"""A leading step this many times the median of the later ones is start-up whatever it holds."""
LONGER = 1.3
"""A leading step this many times the median is start-up when first calls explain half of the excess."""
SHORTER = 0.85
"""A leading step below this share of the median, under a busy device, only filled the device's queue."""
BUSY = 0.9
SET_UP = 10.0
"""A first collective whose range is this many times the later ones', and a millisecond, sets its group up."""
MOST_LEADING = 200
"""A run that is still not steady after so many steps never gets so."""


def mark(steps: pl.DataFrame, host: pl.DataFrame, device: pl.DataFrame) -> pl.DataFrame:
    """The step table with ``is_startup`` decided; only leading steps can be start-up.

    Args:
        steps: Table STEPS of one window.
        host: Table HOST.
        device: Table DEVICE.
    """
    if not len(steps):
        return steps
    start, end = steps["start_ns"].to_numpy(), steps["end_ns"].to_numpy()
    length = (end - start).astype(np.float64)
    first = first_call_ns(host, start, end)
    if len(steps) == 1:
        flags = np.array([bool(first[0] > 0.5 * length[0])])
    else:
        flags = _leading(
            length, first, device_bound=_device_bound(device, int(start[0]), int(end[-1]))
        )
    return steps.with_columns(pl.Series("is_startup", flags))


def _leading(length: iv.Floats, first: iv.Ints, *, device_bound: bool) -> iv.Bools:
    flags = np.zeros(len(length), bool)
    for position in range(min(len(length) - 1, MOST_LEADING)):
        later = float(np.median(length[position + 1 :]))
        excess = length[position] - later
        slow = length[position] > FAR * later or (
            length[position] > LONGER * later and first[position] > 0.5 * excess
        )
        filling = device_bound and length[position] < SHORTER * later
        if not (slow or filling):
            break
        flags[position] = True
    return flags


def first_call_ns(host: pl.DataFrame, start: iv.Ints, end: iv.Ints) -> iv.Ints:
    """Time in first calls within each interval, nested ones counted once; shape of ``start``."""
    calls = host.select("start_ns", "end_ns").filter(
        pl.Series(matches(host["name"], FIRST_CALLS), dtype=pl.Boolean)
    )
    return iv.measure(iv.of(calls), iv.pairs(start, end))


def first_calls(trace: Trace) -> iv.Ints:
    """When first calls kept the host busy while no device worked, as a set of intervals.

    Calls that a steady step does not make; launches of a millisecond and more, in which the driver loads
    the kernel's code; and the first collective of a kind, in which communicators are set up.
    """
    host = trace.host
    named = host.filter(
        call_names.matching(host, FIRST_CALLS, (*call_names.RANGES, *call_names.CALLS))
    )
    launches = host.filter(call_names.matching(host, call_names.LAUNCH, call_names.CALLS))
    slow = launches.filter(launches["end_ns"] - launches["start_ns"] >= NS_PER_MS)
    found = iv.union(iv.union(iv.of(named), iv.of(slow)), iv.of(_set_ups(host)))
    return iv.subtract(found, iv.of(trace.device))


def _set_ups(host: pl.DataFrame) -> pl.DataFrame:
    """First collectives that took far longer to ask for than later ones of the same name."""
    asked = call_names.matching(host, call_names.COLLECTIVE, call_names.RANGES)
    asked &= ~call_names.matching(host, call_names.HOST_TRANSFER, call_names.RANGES)
    ranges = (
        host.filter(asked).sort("start_ns").with_columns(ns=pl.col("end_ns") - pl.col("start_ns"))
    )
    names = ranges.group_by("name").agg(
        pl.first("start_ns", "end_ns", "ns"), pl.col("ns").slice(1).median().alias("later_ns")
    )
    return names.filter((pl.col("ns") >= NS_PER_MS) & (pl.col("ns") > SET_UP * pl.col("later_ns")))


def _device_bound(device: pl.DataFrame, start_ns: int, end_ns: int) -> bool:
    """Whether the device worked nearly all of the time, so that the host can only wait for it."""
    busy = iv.total(iv.clip(iv.of(device), start_ns, end_ns))
    return busy > BUSY * (end_ns - start_ns)
