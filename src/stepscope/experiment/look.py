"""What the first trial shows: predictions, and which changes are worth trying."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from stepscope.analysis.results import run_all
from stepscope.errors import InputError
from stepscope.experiment.variant import Situation
from stepscope.job.loaders import setting_of
from stepscope.predict import gains
from stepscope.schema.run_folder import load_run
from stepscope.trace import load

if TYPE_CHECKING:
    from pathlib import Path


def situation_of(folder: Path) -> Situation:
    """Reads the run folder of the first trial.

    Raises:
        InputError: It recorded no trace.
    """
    rank = load_run(folder).ranks[0]
    if rank.trace is None or rank.recording is None:
        raise InputError("the first trial recorded no trace", path=str(folder))
    trace = load([str(rank.trace)])[0]
    results = run_all(trace)
    names = trace.host.get_column("name").cast(pl.String)
    loaders = rank.recording.loaders
    waited = sum(row.loader_wait_ns for row in rank.steps if row.kind == "clean")
    whole = sum(row.duration_ns for row in rank.steps if row.kind == "clean")
    return Situation(
        gains=gains(trace, results, setting_of(rank)),
        wait_frac=waited / whole if whole else 0.0,
        has_loader=bool(loaders),
        workers=loaders[0].workers if loaders else None,
        restarts=bool(loaders) and loaders[0].epochs > 1 and not loaders[0].persistent,
        cores=rank.recording.cores or 1,
        threads=not len(trace.device),
        has_gpu=len(trace.device) > 0,
        has_convolutions=bool(names.str.starts_with("aten::conv").any()),
        optimizer=bool(names.str.contains(r"^Optimizer\.step#(Adam|AdamW|SGD)\.").any()),
    )
