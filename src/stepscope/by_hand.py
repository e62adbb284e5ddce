"""``with stepscope.profile(): ...``: the recorder by hand, around the part of a script that trains."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import StepscopeError
from stepscope.record.job import Job, JobOptions
from stepscope.record.plan import Plan
from stepscope.record.voice import Voice
from stepscope.watch.beside import INTERVAL_S, Beside

if TYPE_CHECKING:
    from types import TracebackType


class Run:
    """A recording as the code inside the ``with`` sees it."""

    def __init__(self, job: Job) -> None:
        self._job = job

    @property
    def path(self) -> Path | None:
        """The run folder; ``None`` when nothing could be written."""
        return self._job.folder

    def step(self) -> None:
        """Mark the end of a step, for loops without optimizer and DataLoader.

        From the first call on, steps are only what is marked so.
        """
        self._job.step()


class profile:  # noqa: N801  a context manager that reads like a function, as contextlib's do
    """Record what is trained inside, and diagnose it on leaving.

    Inside ``stepscope profile`` it changes nothing, because the whole script is recorded already.
    When nothing can be recorded the reason is said on stderr, and the code inside runs all the same.

    Args:
        out: Folder to write; a fresh one under ``stepscope-runs`` by default.
        warmup: Steps to leave out first; until they settle by default.
        clean: Steps to time without the profiler; up to 10 by default.
        active: Steps to record; 2 to 20 by default, by their length.
        analyze: Whether to analyse on leaving; prints on stderr and writes ``report.html``.
        watch: Whether a process beside this one samples utilisation and energy meanwhile.

    Example:
        >>> with stepscope.profile(out="runs/a") as run:  # doctest: +SKIP
        ...     train()
        >>> run.path  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        out: str | os.PathLike[str] | None = None,
        warmup: int | None = None,
        clean: int | None = None,
        active: int | None = None,
        analyze: bool = True,
        watch: bool = True,
    ) -> None:
        script = sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c", "-m") else "python"
        command = tuple(sys.argv) or (script,)
        self._options = JobOptions(
            name=Path(script).stem,
            command=command,
            plan=Plan(warmup=warmup, clean=clean, active=active),
            out=None if out is None else os.fspath(out),
            analyze=analyze,
            companion=Beside(command, INTERVAL_S) if watch else None,
        )
        self._job: Job | None = None

    def __enter__(self) -> Run:
        """Begin to record."""
        current = Job.current
        if current is not None and not current.is_light:
            return Run(current)
        if current is not None:
            # Steps that are only timed beside a watch give way to what the script asks for.
            current.end(None)
        self._job = Job(self._options)
        try:
            self._job.begin()
        except StepscopeError as error:
            Voice().warn(f"nothing is recorded, the script runs all the same: {error}")
        return Run(self._job)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Write the run folder and have it analysed."""
        job, self._job = self._job, None
        if job is not None:
            job.end(None)
