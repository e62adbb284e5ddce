"""One trial: the script in a child process, with or without a change."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepscope.errors import InputError
from stepscope.job.loaders import epoch_batches
from stepscope.record.trial import LOSSES_NAME, Order
from stepscope.report.compare_stats import is_uneven
from stepscope.schema.run_folder import load_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from stepscope.record.hooks.changes import Changes
    from stepscope.report.compare_stats import Statistic
    from stepscope.schema.loader_rows import LoaderUse


@dataclass(frozen=True, slots=True)
class Trial:
    """What a trial gave.

    Attributes:
        folder: Its run folder.
        steps_ns: Steps without a profiler, of whole epochs where epochs are short; not empty.
        losses: As far as they were seen.
    """

    folder: Path
    steps_ns: tuple[int, ...]
    losses: tuple[float, ...]

    @property
    def is_uneven(self) -> bool:
        """Whether steps come in bunches, so that only their mean says what a run gets done."""
        return is_uneven(np.array(self.steps_ns, dtype=np.float64))

    def step_ns(self, by: Statistic) -> float:
        """The median or the mean step."""
        figure = statistics.fmean if by == "means" else statistics.median
        return float(figure(self.steps_ns))


def run(
    command: tuple[str, ...], changes: Changes, folder: Path, *, steps: int | None, first: bool
) -> Trial | str:
    """Run the script until enough steps are timed.

    Args:
        command: The script and its arguments.
        changes: What is changed.
        folder: The run folder to write; beside it stands what the script printed.
        steps: Steps to time; ``None`` lets their length decide.
        first: Whether the trace is read later; otherwise the shortest window is recorded.

    Returns:
        The trial, or why there is none, in words.
    """
    order = Order(
        command=command,
        out=str(folder),
        clean=steps,
        active=None if first else 1,
        changes=changes,
    )
    paper = folder.with_suffix(".order.json")
    paper.write_text(order.text(), encoding="utf-8")
    log = folder.with_suffix(".log")
    with log.open("wb") as file:
        # The user's own script, which was named on the command line.
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "stepscope.record.trial", str(paper)],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=os.environ,
        )
    if done.returncode != 0:
        return f"the script ended with status {done.returncode}; see {log}"
    return _read(folder, log)


def _read(folder: Path, log: Path) -> Trial | str:
    try:
        recording = load_run(folder).ranks[0].recording
    except (InputError, IndexError):
        recording = None
    if recording is None or not recording.clean_steps_ns:
        return f"too few steps were seen; see {log}"
    losses = folder / LOSSES_NAME
    values = json.loads(losses.read_text(encoding="utf-8")) if losses.is_file() else []
    steps = _whole_epochs(recording.clean_steps_ns, recording.loaders)
    return Trial(folder, steps, tuple(values))


def _whole_epochs(steps_ns: tuple[int, ...], loaders: Sequence[LoaderUse]) -> tuple[int, ...]:
    """The last steps that make up whole epochs, because the first step of each waits for its batch."""
    feeding = [use for use in loaders if use.role == "training"]
    epoch = epoch_batches(feeding[0]) if len(feeding) == 1 else None
    if epoch is None or epoch > len(steps_ns):
        return steps_ns
    return steps_ns[-(len(steps_ns) // epoch * epoch) :]
