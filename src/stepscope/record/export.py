"""Writes traces in the background, so that training does not wait for it."""

from __future__ import annotations

import contextlib
import gzip
import shutil
import threading
from dataclasses import dataclass
from time import perf_counter_ns
from typing import IO, TYPE_CHECKING

from stepscope.record.stack import resolved
from stepscope.schema.stack_file import stack_path, write_stacks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stepscope.record.guard import Guard
    from stepscope.record.window import FinishedWindow

GZIP_LEVEL = 1
"""Traces shrink twelve-fold at the fastest level already; the highest gains 20 % for twice the time."""

PARTIAL_STEP = b'"Step that the window cut"'


@dataclass(slots=True)
class ExportJob:
    """The writing of one trace.

    Attributes:
        path: The file to write.
        took_ns: How long it took; ``None`` while it runs or when it failed.
        size_bytes: Size of the file; likewise.
        failure: What went wrong, ``""`` when nothing did.
    """

    path: Path
    took_ns: int | None = None
    size_bytes: int | None = None
    failure: str = ""


class Exporter:
    """Writes one trace after the other, each in a thread of its own that ends with it.

    Args:
        when_done: Called in that thread after each one.
        guard: What keeps failures away from the script.
    """

    def __init__(self, when_done: Callable[[ExportJob], None], guard: Guard) -> None:
        self._when_done, self._guard = when_done, guard
        self._thread: threading.Thread | None = None

    def start(self, window: FinishedWindow, path: Path) -> ExportJob:
        """Begin to write the window's trace."""
        job = ExportJob(path)
        previous = self._thread
        self._thread = threading.Thread(
            target=self._run, args=(job, window, previous), name="stepscope-export", daemon=True
        )
        self._thread.start()
        return job

    def wait(self) -> None:
        """Until everything is written."""
        if self._thread is not None:
            self._thread.join()

    def _run(
        self, job: ExportJob, window: FinishedWindow, previous: threading.Thread | None
    ) -> None:
        if previous is not None:
            previous.join()
        begin = perf_counter_ns()
        self._guard.call(_write_stacks, job.path, window)
        plain = job.path.with_name(f".{job.path.name}.json")
        packed = job.path.with_name(f".{job.path.name}.part")
        try:
            window.profiler.export_chrome_trace(str(plain))
            with plain.open("rb") as source, gzip.open(packed, "wb", GZIP_LEVEL) as target:
                _copy(source, target, window.dropped)
            packed.replace(job.path)
            job.size_bytes = job.path.stat().st_size
            job.took_ns = perf_counter_ns() - begin
        except (OSError, RuntimeError) as error:
            job.failure = f"{type(error).__name__}: {error}"
        finally:
            for leftover in (plain, packed):
                leftover.unlink(missing_ok=True)
            # The events may fill much memory, and nobody reads them any more.
            window.profiler = None
        self._when_done(job)


def _write_stacks(trace: Path, window: FinishedWindow) -> None:
    """Write what the window's sampler has seen, before the trace, so that it is there when the trace is."""
    watch, window.watch = window.watch, None
    if watch is None:
        return
    # A folder that takes no small file takes no trace either, and that is said.
    with contextlib.suppress(OSError):
        samples = watch.samples()
        window.sampling_ns = samples.cost_ns
        write_stacks(stack_path(trace), resolved(samples))


def _copy(source: IO[bytes], target: gzip.GzipFile, dropped: list[int]) -> None:
    """Copy the trace; the marks of steps that only began get a name that is no step's."""
    if not dropped:
        shutil.copyfileobj(source, target, 1 << 20)
        return
    marks = {f'"ProfilerStep#{number}"'.encode() for number in dropped}
    for line in source:
        if b'"ProfilerStep#' in line:
            for mark in marks:
                line = line.replace(mark, PARTIAL_STEP)  # noqa: PLW2901
        target.write(line)
