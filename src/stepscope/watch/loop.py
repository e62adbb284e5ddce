"""The watch itself: tick by tick, rows go from the samplers to the file and to the view."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Protocol

from stepscope.schema.sampler import Moment
from stepscope.schema.samples import End

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.schema.sampler import Sampler
    from stepscope.schema.samples import Sample
    from stepscope.watch.store import SampleWriter

MOST_SHARE = 0.005
"""Watching takes no more than this share of a core; ticks come later where they are dear."""
SMOOTHING = 0.2


class View(Protocol):
    """Shows rows as they come."""

    def show(self, rows: Sequence[Sample]) -> None:
        """Shows a tick's rows."""

    def close(self) -> None:
        """Leaves the terminal as it was."""


class Herald(Protocol):
    """Looks now and then at what was written until now."""

    def look(self, at_s: float) -> None:
        """Looks if it is time."""


class Loop:
    """Asks the samplers, writes what they answer, and keeps its own cost down.

    A disk that is full, or a folder that has gone, ends the writing with a word and not the watch.

    Args:
        samplers: The processes' sampler first, so that the others know the processes.
        pids: The watched processes.
        writer: Where rows go; ``None`` when nothing is kept.
        interval_s: Time between two ticks.
        view: Shows rows; ``None`` for silence.
        began_s: What ``time.perf_counter`` showed at the zero of ``at_s``.
        herald: Tells mistakes while the run goes on; ``None`` for silence.
        clock: Seconds, as ``time.perf_counter`` has them.
    """

    def __init__(  # noqa: PLR0913  (parts of a watch, each named at the call)
        self,
        samplers: Sequence[Sampler],
        pids: Callable[[], frozenset[int]],
        writer: SampleWriter | None,
        *,
        interval_s: float,
        began_s: float,
        view: View | None = None,
        herald: Herald | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._samplers, self._pids, self._writer, self._view = samplers, pids, writer, view
        self._herald, self._clock = herald, clock
        self._interval_s = interval_s
        self._began = self._next = began_s
        self._cost_s: float | None = None

    @property
    def now_s(self) -> float:
        """Seconds after the start."""
        return self._clock() - self._began

    @property
    def until_next_s(self) -> float:
        """How long to sleep until the next tick."""
        return max(self._next - time.perf_counter(), 0.0)

    def open(self) -> None:
        """Opens the samplers and takes the first samples."""
        rows = [row for sampler in self._samplers for row in sampler.open()]
        self._write(0.0, rows)
        if self._view is not None:
            self._view.show(rows)
        self.tick()

    def tick(self, *, is_last: bool = False) -> None:
        """Takes one round of samples.

        Args:
            is_last: Whether the watched have ended, or the watch does.
        """
        start = time.thread_time()
        at_s = self.now_s
        rows: list[Sample] = []
        for sampler in self._samplers:
            rows += sampler.sample(Moment(at_s, self._pids(), is_last))
        self._write(at_s, rows)
        cost = time.thread_time() - start
        self._cost_s = (
            cost if self._cost_s is None else self._cost_s + SMOOTHING * (cost - self._cost_s)
        )
        # What follows keeps its own cost down; samples do not wait for it.
        if self._view is not None:
            self._view.show(rows)
        if self._herald is not None and self._writer is not None and not is_last:
            self._herald.look(at_s)
        self._next = time.perf_counter() + max(self._interval_s, self._cost_s / MOST_SHARE) - cost

    def close(self, exit_status: int | None = None, signal: int | None = None) -> None:
        """Closes the samplers and writes the end."""
        for sampler in self._samplers:
            sampler.close()
        if self._view is not None:
            self._view.close()
        if self._writer is None:
            return
        end = End(
            at_s=self.now_s,
            exit_status=exit_status,
            signal=signal,
            own_cpu_s=time.process_time(),
            own_rss_bytes=own_peak_bytes(),
        )
        try:
            self._writer.close(end)
        except OSError as error:
            say(f"the last samples could not be written: {error.strerror}")

    def _write(self, at_s: float, rows: list[Sample]) -> None:
        if self._writer is None:
            return
        try:
            self._writer.write(at_s, rows)
        except OSError as error:
            say(f"samples are no longer written to {self._writer.path}: {error.strerror}")
            self._writer = None


def own_peak_bytes() -> int:
    """Most memory that this process had; 0 where the system does not tell."""
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def say(text: str) -> None:
    """A line on standard error, where the watched command's output does not go."""
    os.write(2, f"stepscope: {text}\n".encode())
