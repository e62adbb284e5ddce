"""The end of a watch: the summary of all watchers of the run, written and told."""

from __future__ import annotations

import os
import socket
import sys
import time
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from stepscope.errors import InputError
from stepscope.schema.cost import Estimate
from stepscope.schema.samples import SUMMARY_NAME
from stepscope.watch.during import MISTAKES, During
from stepscope.watch.loop import say
from stepscope.watch.mistake import look_for
from stepscope.watch.slurm_job import slurm_job
from stepscope.watch.slurm_limit import accounted_joules, ear_joules
from stepscope.watch.steps import steps_of
from stepscope.watch.store import read_file, read_watched
from stepscope.watch.summary import summarise
from stepscope.watch.summary_text import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from stepscope.schema.watch_summary import WatchSummary
    from stepscope.watch.store import Watched

MOST_TASKS = 16
"""Samples of more watchers than this are read at the end only."""
WAIT_FOR_OTHERS_S = 3.0
"""Slurm kills what is left of a step some seconds after its first task has died."""


def finish(
    folder: Path, environ: Mapping[str, str], more: Callable[[Path], str] | None = None
) -> None:
    """Writes the summary, and tells it unless another task's watcher does.

    Every watcher writes what it sees of all, so that the last one's holds everything. The first task's
    tells it, after a short wait for the others.

    Args:
        folder: The run folder.
        environ: Tells whether there are others.
        more: Gives lines to be told after the summary.
    """
    job = slurm_job(environ)
    is_first = job is None or not job.process_id
    others = job is not None and job.step_id is not None and job.tasks > 1
    try:
        summary = summary_of(folder)
        end = time.monotonic() + WAIT_FOR_OTHERS_S
        while is_first and others and not summary.complete and time.monotonic() < end:
            time.sleep(0.1)
            summary = summary_of(folder)
    except InputError:
        # Nothing was kept, which has been said already.
        return
    try:
        write(folder, summary)
    except OSError as error:
        say(f"{SUMMARY_NAME} was not written: {error.strerror}")
    if is_first:
        sys.stdout.flush()
        text = render(summary, folder) + (more(folder) if more is not None else "")
        os.write(2, text.encode("utf-8", "replace"))


def summary_of(folder: Path) -> WatchSummary:
    """The summary of a run folder with its findings; also of one whose watchers were killed.

    Raises:
        InputError: The folder holds no samples.
    """
    return judged(read_watched(folder), folder)


def judged(watched: Sequence[Watched], folder: Path) -> WatchSummary:
    """The summary of some watchers with its findings; steps are read from the run folder."""
    summary = replace(summarise(watched), steps=steps_of(folder))
    return replace(summary, findings=look_for(MISTAKES, During.of(summary, folder)))


def until_now(path: Path, tasks: int) -> WatchSummary:
    """The summary of a run that goes on: of all its watchers, of one's own only where they are many.

    Args:
        path: The file of one's own samples.
        tasks: How many watchers there are.

    Raises:
        InputError: There are no samples any more.
    """
    folder = path.parent.parent
    if tasks <= MOST_TASKS:
        return summary_of(folder)
    own = read_file(path)
    if own is None:
        raise InputError("this file holds no samples", path=str(path))
    return judged((own,), folder)


def with_accounting(summary: WatchSummary) -> WatchSummary:
    """The summary with the energy that EAR or Slurm's accounting gives, where ours of the host is not known.

    Theirs is that of whole nodes, devices included, so it is a notice's business to say so; it is the
    job's own only where the job had its nodes to itself.
    """
    if summary.job_id is None or summary.host_energy.value is not None:
        return summary
    for name, joules in (
        ("EAR", ear_joules(summary.job_id)),
        ("Slurm's accounting", accounted_joules(summary.job_id)),
    ):
        if joules is None:
            continue
        known = [one.energy.value for one in summary.devices if one.energy.value is not None]
        if len(known) < len(summary.devices):
            return summary
        rest = max(joules - sum(known), 0.0)
        how = f"{joules:,.0f} J of whole nodes by {name}, less the devices'"
        return replace(
            summary,
            host_energy=Estimate(
                value=rest, low=0.0, high=joules, unit="J", basis="attributed", how=how
            ),
        )
    return summary


def write(folder: Path, summary: WatchSummary) -> None:
    """Replaces the summary in one move.

    Raises:
        OSError: The folder cannot be written to.
    """
    path = folder / SUMMARY_NAME
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{socket.gethostname()}")
    temporary.write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=1) + b"\n")
    temporary.replace(path)
