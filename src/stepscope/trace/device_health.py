"""Health of the device side: steps without work, launches and kernels that do not find each other, graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.trace import call_names
from stepscope.trace.collectives import LOOKALIKE
from stepscope.trace.matching import matches
from stepscope.units import format_frac, format_ms, ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.trace.file import TraceFile

    Say = Callable[[str, int, str], None]

UNANSWERED = 0.02
"""Share of launches without a kernel up to which nothing is said."""
MOST_EMPTY = 0.5
"""Share of steps without device work above which no verdict rests on the trace."""
NAMED_STEPS = 8
LENGTH = pl.col("end_ns") - pl.col("start_ns")


def launches_of(host: pl.DataFrame) -> pl.DataFrame:
    """The calls in ``host`` that start kernels, with their row as column ``row``."""
    launches = call_names.matching(host, call_names.LAUNCH, call_names.CALLS)
    columns = host.select("name", "correlation", "start_ns").with_row_index("row")
    return columns.filter(pl.Series(launches, dtype=pl.Boolean))


def say_steps(
    host: pl.DataFrame,
    device: pl.DataFrame,
    steps: pl.DataFrame,
    launches: pl.DataFrame,
    say: Say,
) -> float:
    """Says which steps launch kernels of which none was recorded; returns their share of such steps."""
    if not len(steps) or not len(launches) or not len(device):
        return 0.0
    start, end = steps["start_ns"].to_numpy(), steps["end_ns"].to_numpy()
    launched = _per_step(launches["start_ns"].to_numpy(), start, end)
    known = device["launch"].drop_nulls().unique()
    answered = _per_step(np.sort(host["start_ns"].gather(known).to_numpy()), start, end)
    work = _per_step(np.sort(device["start_ns"].to_numpy()), start, end)
    empty = (launched > 0) & (answered == 0) & (work == 0)
    if not empty.any():
        return 0.0
    numbers = steps["number"].to_numpy()[empty].tolist()
    named = ", ".join(map(str, numbers[:NAMED_STEPS])) + (
        ", ..." if len(numbers) > NAMED_STEPS else ""
    )
    say(
        "steps-without-device-work",
        len(numbers),
        f"{len(numbers)} of {len(steps)} steps ({named}) launch kernels of which none was recorded: what the "
        "device did in them is unknown, which is not the same as idle.",
    )
    return len(numbers) / int((launched > 0).sum())


def _per_step(
    times: np.ndarray[tuple[int], np.dtype[np.int64]],
    start: np.ndarray[tuple[int], np.dtype[np.int64]],
    end: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many of the sorted times lie in each step."""
    counts: np.ndarray[tuple[int], np.dtype[np.int64]] = np.searchsorted(
        times, end
    ) - np.searchsorted(times, start)
    return counts


def say_links(
    files: tuple[TraceFile, ...], device: pl.DataFrame, launches: pl.DataFrame, say: Say
) -> None:
    """Kernels without launches, launches without kernels, graph replays, unknown communication."""
    if not len(device):
        return
    _say_orphans(device, launches, say)
    by_flow = sum(file.tables.by_flow for file in files)
    if by_flow:
        say(
            "linked-by-flow",
            by_flow,
            f"{by_flow} kernels, copies and sets carry no correlation with a launch; the trace's arrows link them.",
        )
    if len(launches):
        _say_launches(device, launches, say)
    alike = call_names.matching(device, LOOKALIKE, ("kernel",))
    strange = (
        device.filter(alike).filter(~pl.col("is_communication")) if alike.any() else device[:0]
    )
    if len(strange):
        total = ns_to_ms(strange.select(LENGTH.sum()).item() or 0)
        say(
            "communication-lookalike",
            len(strange),
            f"{len(strange)} kernels have names that look like communication but are not known as such; "
            f"they count as compute ({format_ms(total)}).",
        )


def _say_orphans(device: pl.DataFrame, launches: pl.DataFrame, say: Say) -> None:
    is_kernel = call_names.of_kind(device, "kernel")
    is_orphan = is_kernel & device["launch"].is_null().to_numpy()
    orphans = int(is_orphan.sum())
    if not orphans:
        return
    length = (device["end_ns"] - device["start_ns"]).to_numpy()
    total = int(length[is_kernel].sum())
    if not total:
        return
    share = format_frac(int(length[is_orphan].sum()) / total)
    why = (
        "were launched before the window opened"
        if len(launches)
        else "have no launch in the trace, which holds no calls that launch"
    )
    say(
        "kernels-without-launch",
        orphans,
        f"{orphans} kernels ({share} of the kernel time) {why}; they count as device work but belong to "
        "no operator.",
    )


def _say_launches(device: pl.DataFrame, launches: pl.DataFrame, say: Say) -> None:
    answered = np.isin(launches["row"].to_numpy(), device["launch"].drop_nulls().to_numpy())
    rest = launches.filter(~answered)
    by_correlation = device["correlation"].drop_nulls().unique()
    answers = rest["correlation"].is_in(by_correlation.implode()).fill_null(value=False)
    silent = len(rest) - int(answers.sum())
    if silent > UNANSWERED * len(launches):
        say(
            "launches-without-kernel",
            silent,
            f"{silent} of {len(launches)} launches have no kernel in the trace (captured into a graph, "
            "outside the window, or lost by the profiler); gaps may hold unrecorded work.",
        )
    graphs = launches.filter(
        pl.Series(matches(launches["name"], call_names.GRAPH_LAUNCH), dtype=pl.Boolean)
    )
    if len(graphs):
        replayed = device.filter(pl.col("launch").is_in(graphs["row"].cast(pl.Int64).implode()))
        empty = len(graphs) - replayed["launch"].n_unique()
        lost = f"; {empty} of the launches have no kernel in the trace" if empty else ""
        say(
            "graph-replay",
            len(graphs),
            f"{len(graphs)} graph launches replay {len(replayed)} kernels, which belong to no operator{lost}.",
        )
