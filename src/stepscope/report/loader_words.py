"""Sentences about DataLoaders seen from inside, shared by terminal and page."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from stepscope.units import format_bytes, format_frac, format_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.schema.loader import FunctionRow, LoaderReport, PlaceRow

LEAST_SHARE = 0.05
"""A function with less of the sampled time is left to the JSON report."""


def loader_name(loader: LoaderReport) -> str:
    """What it feeds, its data set, and the loop that reads it."""
    role = {"training": "training", "evaluation": "evaluation", None: "loader"}[loader.role]
    where = f", {short_place(loader.where)}" if loader.where else ""
    return f"{role} ({loader.dataset}{where})"


def settings_sentence(loader: LoaderReport) -> str:
    """The settings that it really has."""
    if loader.workers:
        words = [
            f"{loader.workers} {'worker' if loader.workers == 1 else 'workers'} by {loader.start_method}",
            f"prefetch {loader.prefetch}",
            "persistent" if loader.persistent else "started anew each epoch",
        ]
    else:
        words = ["no workers"]
    words.append("pinned" if loader.pins else "not pinned")
    if loader.batch_size is not None:
        words.append(f"batch size {loader.batch_size:,}")
    words.append(loader.sampler)
    return ", ".join(words)


def wait_sentence(loader: LoaderReport) -> str:
    """How long training waited for it, and how much of that at the heads of epochs."""
    epochs = f"{loader.epochs:,} {'epoch' if loader.epochs == 1 else 'epochs'}"
    text = (
        f"{loader.batches:,} batches in {epochs}, waited for {format_ms(loader.wait_ms)} in total"
    )
    if loader.epochs > 1:
        text += f", of which {format_ms(loader.first_wait_ms)} for first batches"
    return text


def times_sentence(loader: LoaderReport) -> str:
    """What making a batch takes, by part; empty when no batch was timed."""
    times = loader.times
    if times is None:
        return ""
    parts = [
        f"items computed {format_ms(times.compute_ms)}",
        f"items waiting {format_ms(times.wait_ms)}",
        f"collated {format_ms(times.collate_ms)}",
    ]
    if times.queued_ms is not None:
        parts.append(f"without a core {format_ms(times.queued_ms)}")
    if loader.workers:
        parts.append(f"packed {format_ms(times.send_ms)}")
    if times.pin_ms:
        parts.append(f"pinned {format_ms(times.pin_ms)}")
    parts.append(f"handed over {format_ms(times.handover_ms)}")
    read = "" if times.read_bytes is None else f"; {format_bytes(times.read_bytes)} read"
    opened = "" if times.opened is None else f", {times.opened:.3g} files opened"
    return f"{', '.join(parts)} (mean of {times.batches:,}){read}{opened}"


def function_sentence(row: FunctionRow) -> str:
    """A function with its share and whether it computes."""
    cpu = "" if row.cpu_frac is None else f", computing {format_frac(row.cpu_frac)} of it"
    path = " > ".join(row.path) if row.path else row.function
    return f"{path} ({short_place(f'{row.file}:{row.line}')}): {format_frac(row.share)} of the samples{cpu}"


def busy_functions(loader: LoaderReport) -> Sequence[FunctionRow]:
    """Those that are worth a line."""
    return [row for row in loader.functions if row.share >= LEAST_SHARE]


def place_sentence(row: PlaceRow) -> str:
    """A folder, its files and its file system."""
    size = "" if row.mean_bytes is None else f" of {format_bytes(row.mean_bytes)} in mean"
    system = f" on {row.mount} ({row.type}, {row.kind})" if row.type else ""
    return f"{row.folder}{system}: at least {row.files:,} {'file' if row.files == 1 else 'files'}{size}"


def short_place(where: str) -> str:
    """File name and line of a place in code."""
    return PurePath(where).name
