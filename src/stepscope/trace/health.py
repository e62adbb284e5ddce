"""Trace health: what the data can carry, said before any bottleneck is named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from stepscope.schema.report import Notice
from stepscope.trace.collectives import LOOKALIKE
from stepscope.units import format_frac, format_ms

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.trace.file import TraceFile

    Say = Callable[[str, int, str], None]

LAUNCH = (
    r"(?i)^(cuda|hip)(Ext|Module)?Launch|^cuLaunch|^(cuda|hip)GraphLaunch|^zeCommandListAppendLaunch|"
    r"^ur?EnqueueKernelLaunch|^aclrtLaunch"
)
"""Calls that start device work."""
GRAPH_LAUNCH = r"(?i)GraphLaunch"
COPY_CALL = r"(?i)^(cuda|hip)Mem(cpy|set)"
ON_DEVICE = r"(?i)cudnn|miopen|_cuda\b|_flash_attention|^nccl:|cublas"
"""Operators that exist on a device only."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the data of one rank can carry.

    Attributes:
        usable: Whether a verdict about a bottleneck can rest on it.
        gpu_recorded: Whether device work was recorded; None when no device was in use.
        notices: Most important first.
    """

    usable: bool
    gpu_recorded: bool | None
    notices: tuple[Notice, ...]


def judge(
    files: tuple[TraceFile, ...], host: pl.DataFrame, device: pl.DataFrame, rank: int | None
) -> Judgement:
    """Judges the files of one rank.

    Args:
        files: Its windows.
        host, device: Their tables, joined.
        rank: Its number, for the notices.
    """
    notices: list[Notice] = []

    def say(code: str, count: int, text: str) -> None:
        notices.append(Notice(code=code, count=count, text=text, rank=rank))

    name = pl.col("name").cast(pl.String)
    calls = host.filter(pl.col("kind").is_in(["runtime", "driver"]))
    launches = calls.filter(name.str.contains(LAUNCH))
    work = host.filter(pl.col("kind").is_in(["operator", "annotation"]))
    operators = host.filter(pl.col("kind") == "operator")
    listed = any(f.header.values.get("deviceProperties") for f in files)
    recorded = _recorded(device, launches, calls, operators)
    nothing = not len(device) and not len(operators)
    if nothing and not len(launches):
        say(
            "nothing-recorded",
            len(work),
            "Nothing was recorded: no operator ran in the window. Usual causes: the profiler wraps other code "
            "than the training loop, the work runs in another thread or process, or the schedule ended "
            "before the loop began.",
        )
    elif recorded is False:
        say(
            "gpu-not-recorded",
            len(launches),
            f"The GPU side was not recorded ({len(launches)} launches, no kernel): device time is unknown, "
            "which is not the same as idle. Usual causes: another profiler (nsys, DCGM) holds the device, "
            "missing permission for GPU counters, or only CPU activity was asked for.",
        )
    elif recorded is None and listed and len(operators):
        say(
            "device-unused",
            sum(len(_listed(f)) for f in files[:1]),
            "The trace lists a GPU, but all work ran on the CPU.",
        )
    _about_links(device, launches, say)
    _about_text(files, say)
    usable = not (nothing and not len(launches)) and recorded is not False
    return Judgement(usable, recorded, tuple(notices))


def _listed(file: TraceFile) -> list[object]:
    value = file.header.values.get("deviceProperties")
    return value if isinstance(value, list) else []


def _recorded(
    device: pl.DataFrame, launches: pl.DataFrame, calls: pl.DataFrame, operators: pl.DataFrame
) -> bool | None:
    if len(device):
        return True
    if len(launches):
        return False
    on_device = (
        operators["name"].cast(pl.String).str.contains(ON_DEVICE).any() if len(operators) else False
    )
    return False if on_device and not len(calls) else None


def _about_links(device: pl.DataFrame, launches: pl.DataFrame, say: Say) -> None:
    """Kernels without launches, launches without kernels, graph replays, unknown communication."""
    if not len(device):
        return
    length = pl.col("end_ns") - pl.col("start_ns")
    kernels = device.filter(pl.col("kind") == "kernel")
    total = kernels.select(length.sum()).item() or 0
    orphans = kernels.filter(pl.col("launch").is_null())
    if len(orphans) and total:
        share = (orphans.select(length.sum()).item() or 0) / total
        say(
            "kernels-without-launch",
            len(orphans),
            f"{len(orphans)} kernels ({format_frac(share)} of the kernel time) were launched before the "
            "window opened; they count as device work but belong to no operator.",
        )
    if len(launches):
        answered = launches.join(
            device.select("correlation").drop_nulls().unique(), on="correlation", how="anti"
        )
        graphs = launches["name"].cast(pl.String).str.contains(GRAPH_LAUNCH).sum()
        if len(answered) > 0.02 * len(launches):
            say(
                "launches-without-kernel",
                len(answered),
                f"{len(answered)} of {len(launches)} launches have no kernel in the trace (captured into a "
                "graph, outside the window, or lost by the profiler); gaps may hold unrecorded work.",
            )
        if graphs:
            replayed = device.join(
                launches.filter(pl.col("name").cast(pl.String).str.contains(GRAPH_LAUNCH)).select(
                    "correlation"
                ),
                on="correlation",
                how="semi",
            )
            say(
                "graph-replay",
                int(graphs),
                f"{graphs} graph launches replay {len(replayed)} kernels, which belong to no operator.",
            )
    strange = kernels.filter(
        ~pl.col("is_communication") & pl.col("name").cast(pl.String).str.contains(LOOKALIKE)
    )
    if len(strange):
        say(
            "communication-lookalike",
            len(strange),
            f"{len(strange)} kernels have names that look like communication but are not known as such; "
            f"they count as compute ({format_ms((strange.select(length.sum()).item() or 0) / 1e6)}).",
        )


def _about_text(files: tuple[TraceFile, ...], say: Say) -> None:
    """What was repaired, lost or left out while reading."""
    for file in files:
        if file.truncated:
            say(
                "truncated",
                file.lost_bytes,
                f"{file.path} ends before its time; the {file.complete} whole events were read and the "
                f"last {file.lost_bytes} characters were lost.",
            )
        if file.repairs.mended:
            say(
                "repaired",
                file.repairs.mended,
                f"{file.repairs.mended} events in {file.path} were not valid JSON and were repaired, the "
                f"first at $.traceEvents[{file.repairs.first_mended}].",
            )
        if file.repairs.dropped:
            say(
                "unreadable-events",
                file.repairs.dropped,
                f"{file.repairs.dropped} events in {file.path} could not be read and are missing, the first "
                f"at $.traceEvents[{file.repairs.first_dropped}].",
            )
        if file.header.salvaged:
            say(
                "header-repaired",
                1,
                f"The header of {file.path} is not valid JSON; only the keys that matter were picked out.",
            )
        dropped = file.tables.dropped
        if dropped.total:
            say(
                "unusable-events",
                dropped.total,
                f"{dropped.total} of {file.complete} events in {file.path} have no usable time and were left "
                f"out ({dropped.no_time} without a time, {dropped.zero_time} at time 0, {dropped.negative} of "
                f"negative and {dropped.absurd} of absurd length).",
            )
        if dropped.clipped:
            say(
                "clipped-events",
                dropped.clipped,
                f"{dropped.clipped} kernels in {file.path} overrun their successors on the same stream and "
                "were cut where the next one starts.",
            )
        if file.unknown:
            count = sum(file.unknown.values())
            most = max(file.unknown, key=lambda c: file.unknown[c])
            say(
                "unknown-category",
                count,
                f"{count} events in {file.path} have a category that is not known (most of them {most!r}) and "
                "count neither as host nor as device work.",
            )
        if file.long_names:
            say("long-names", file.long_names, f"{file.long_names} names in {file.path} were cut.")
