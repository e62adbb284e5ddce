"""The profiler windows of one process: at most one open, each written in the background."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from threading import get_ident
from typing import TYPE_CHECKING

from stepscope.record.export import Exporter, ExportJob
from stepscope.record.stack import StackWatch
from stepscope.record.window import FinishedWindow, Window
from stepscope.schema.run_folder import WindowKind, WindowRecord, trace_name
from stepscope.schema.stack_file import stack_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stepscope.record.expectation import Expectation
    from stepscope.record.guard import Guard

LASTING = ("steady", "detail")
"""Windows of these kinds stay; others were only taken in case that none of these would come."""


@dataclass(frozen=True, slots=True)
class _Written:
    window: FinishedWindow
    job: ExportJob


class Windows:
    """Opens and closes windows, and keeps what became of them.

    Args:
        folder: Where traces are written.
        changed: Called, in the writing thread, whenever a trace is complete or has failed.
        guard: What keeps failures away from the script.

    Attributes:
        open_window: The one that is open or prepared.
        is_busy: Whether the profiler is being operated right now, so that what it does is ours.
    """

    def __init__(self, folder: Path, changed: Callable[[], None], guard: Guard) -> None:
        self._folder, self._guard = folder, guard
        self._changed = changed
        self._exporter = Exporter(self._exported, guard)
        self._written: list[_Written] = []
        self._lock = threading.Lock()
        self._count = 0
        self.open_window: Window | None = None
        self.is_busy = False

    def prepare(self, kind: WindowKind, step: int) -> None:
        """Attach the profiler, one step before the window opens."""
        self.is_busy = True
        try:
            window = Window(kind, step)
            window.prepare()
            self.open_window = window
        finally:
            self.is_busy = False

    def open(self, kind: WindowKind, step: int, expected: Expectation) -> None:
        """Begin to record with the step of that number."""
        self.is_busy = True
        try:
            window = self.open_window or Window(kind, step)
            # In detail the profiler itself records stacks.
            if kind != "detail":
                window.watch = StackWatch(get_ident(), expected.ns, self._guard)
            window.open(step, expected)
            self.open_window = window
        finally:
            self.is_busy = False

    def close(self, cut: str = "") -> int:
        """Stop recording and begin to write; the number of whole steps in the window.

        A window without a whole step is thrown away.
        """
        window, self.open_window = self.open_window, None
        if window is None:
            return 0
        self.is_busy = True
        try:
            finished = window.close(cut)
        finally:
            self.is_busy = False
        if finished.steps_ns:
            # The lock keeps the writer from reporting before the window is on the list.
            with self._lock:
                job = self._exporter.start(finished, self._folder / trace_name(self._count))
                self._written.append(_Written(finished, job))
            self._count += 1
        return len(finished.steps_ns)

    @property
    def own_ns(self) -> int:
        """CPU time that sampling stacks has taken so far, in windows that are closed."""
        with self._lock:
            return sum(one.window.sampling_ns for one in self._written)

    @property
    def is_writing(self) -> bool:
        """Whether a trace is being written."""
        with self._lock:
            return any(one.job.took_ns is None and not one.job.failure for one in self._written)

    def bytes_per_step(self) -> float | None:
        """What a step of the last written window took on disk; ``None`` while none is written."""
        with self._lock:
            for written in reversed(self._written):
                steps = len(written.window.steps_ns)
                if written.job.size_bytes and steps and written.window.kind != "detail":
                    return written.job.size_bytes / steps
        return None

    def relabel(self, kind: WindowKind) -> None:
        """What was taken so far turned out to be of that kind."""
        with self._lock:
            for written in self._written:
                written.window.kind = kind

    def wait(self) -> None:
        """Until all traces are written."""
        self._exporter.wait()

    def records(self) -> tuple[WindowRecord, ...]:
        """What became of the windows so far."""
        with self._lock:
            return tuple(_record(written) for written in self._written)

    def failures(self) -> tuple[str, ...]:
        """Why traces could not be written."""
        with self._lock:
            return tuple(written.job.failure for written in self._written if written.job.failure)

    def _exported(self, job: ExportJob) -> None:
        if not job.failure:
            self._drop_before(job)
        self._changed()

    def _drop_before(self, job: ExportJob) -> None:
        """An early window was only taken in case that no later one would come."""
        with self._lock:
            position = next(i for i, written in enumerate(self._written) if written.job is job)
            superseded = [w for w in self._written[:position] if w.window.kind not in LASTING]
            if self._written[position].window.kind == "steady":
                self._written = [w for w in self._written if w not in superseded]
            else:
                superseded = []
        for written in superseded:
            written.job.path.unlink(missing_ok=True)
            stack_path(written.job.path).unlink(missing_ok=True)


def _record(written: _Written) -> WindowRecord:
    window, job, expected = written.window, written.job, written.window.expected
    return WindowRecord(
        trace=job.path.name if job.took_ns is not None else None,
        kind=window.kind,
        first_step=window.first_step,
        steps_ns=tuple(window.steps_ns),
        prepare_ns=window.prepare_ns,
        start_ns=window.start_ns,
        stop_ns=window.stop_ns,
        export_ns=job.took_ns,
        trace_bytes=job.size_bytes,
        cut=window.cut,
        expected_bytes=expected.size_bytes,
        wanted_steps=max(expected.wanted_steps, len(window.steps_ns)),
    )
