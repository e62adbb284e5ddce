"""Samples the stack of the thread that makes batches, to find the functions that its time goes to."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, field
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, TypeVar

from stepscope.record.frames import is_users, name_of
from stepscope.record.loader.fetching import FetchHook, TimedCollate
from stepscope.record.loader.lines import Lines
from stepscope.record.switching import hasten, settle
from stepscope.schema.loader_rows import FUNCTIONS_NAME, BatchPhase, BusyFunction, json_line

if TYPE_CHECKING:
    from pathlib import Path
    from types import CodeType, FrameType

    from stepscope.record.guard import Guard
    from stepscope.record.loader.meter import BatchMeter, Fetch

EVERY_S = 0.01
LATER_S = 0.05
"""The pause between two samples: the first for the first ``FAST_SAMPLES`` of a fetch and while less than
``FAST_MISSES`` looks in turn have found none, then the second."""

FAST_SAMPLES, FAST_MISSES, MOST_SAMPLES = 300, 200, 1_500
MOST_TICKS = 30_000
"""After so many samples of fetches, or looks that found none, the sampler has seen enough and ends."""

LONGEST_PATH = 4
"""So many of the innermost functions of a stack are kept."""

K = TypeVar("K")

_OWN_FILE = FetchHook.install.__code__.co_filename
_FETCHERS = "torch/utils/data/_utils/fetch.py"


@dataclass(slots=True)
class _Seen:
    samples: int = 0
    wall_ns: int = 0
    cpu_ns: int | None = 0
    lines: dict[int, int] = field(default_factory=dict)
    inner: dict[str, int] = field(default_factory=dict)
    paths: dict[tuple[str, ...], int] = field(default_factory=dict)


class StackSampler:
    """A thread that looks at the fetch that runs now.

    Args:
        folder: The rank's folder.
        worker: Number of the worker; -1 for the process that trains.
        meter: Whose fetches are looked at.
        guard: What keeps failures away from the process.

    Attributes:
        own_ns: CPU time that sampling has taken so far.
    """

    def __init__(self, folder: Path, worker: int, meter: BatchMeter, guard: Guard) -> None:
        self._lines = Lines(folder / FUNCTIONS_NAME)
        self._worker, self._meter, self._guard = worker, meter, guard
        self._lock = threading.Lock()
        self._seen: dict[tuple[int, BatchPhase, CodeType], _Seen] = {}
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._fetch: Fetch | None = None
        self._last = (0, 0)
        self.own_ns = 0

    def start(self) -> None:
        """Begin to sample."""
        self._thread = threading.Thread(target=self._run, name="stepscope-sampler", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Sample no more."""
        self._stopped.set()

    def write(self) -> None:
        """Write what was seen since the last time.

        Raises:
            OSError: The file cannot be written.
        """
        with self._lock:
            seen, self._seen = self._seen, {}
        self._lines.append(
            "".join(json_line(self._document(*key, found)) for key, found in seen.items())
        )

    def _run(self) -> None:
        hasten(self)
        try:
            self._sample()
        finally:
            settle(self)

    def _sample(self) -> None:
        samples, missed, pause = 0, 0, EVERY_S
        for _ in range(MOST_TICKS):
            if self._stopped.wait(pause) or not self._guard.is_on or samples >= MOST_SAMPLES:
                return
            found = bool(self._guard.call(self._look))
            samples, missed = samples + found, 0 if found else missed + 1
            pause = EVERY_S if samples < FAST_SAMPLES and missed < FAST_MISSES else LATER_S
            self.own_ns = thread_time_ns()

    def _look(self) -> bool:
        """Take one sample; whether there was a fetch to look at."""
        fetch = self._meter.fetch
        if fetch is None:
            return False
        now, cpu = perf_counter_ns(), _cpu_ns(fetch.thread)
        frame = sys._current_frames().get(fetch.thread)
        if frame is None or self._meter.fetch is not fetch:
            return False
        if fetch is not self._fetch:
            self._fetch, self._last = fetch, (fetch.begin_ns, fetch.begin_cpu_ns)
        last_ns, last_cpu = self._last
        self._last = (now, cpu if cpu is not None else 0)
        self._note(fetch, frame, now - last_ns, None if cpu is None else cpu - last_cpu)
        return True

    def _note(self, fetch: Fetch, frame: FrameType, wall_ns: int, cpu_ns: int | None) -> None:
        phase, path = _inside(frame)
        if not path:
            return
        users = path[-1]
        with self._lock:
            seen = self._seen.setdefault((fetch.loader, phase, users.f_code), _Seen())
            seen.samples += 1
            seen.wall_ns += wall_ns
            seen.cpu_ns = None if cpu_ns is None or seen.cpu_ns is None else seen.cpu_ns + cpu_ns
            seen.lines[users.f_lineno] = seen.lines.get(users.f_lineno, 0) + 1
            inner = name_of(frame.f_code)
            seen.inner[inner] = seen.inner.get(inner, 0) + 1
            names = tuple(name_of(one.f_code) for one in path[-LONGEST_PATH:])
            seen.paths[names] = seen.paths.get(names, 0) + 1

    def _document(
        self, loader: int, phase: BatchPhase, code: CodeType, seen: _Seen
    ) -> BusyFunction:
        return BusyFunction(
            loader=loader,
            worker=self._worker,
            phase=phase,
            function=name_of(code),
            file=code.co_filename,
            line=_most(seen.lines),
            path=_most(seen.paths),
            inner=_most(seen.inner),
            samples=seen.samples,
            wall_ns=seen.wall_ns,
            cpu_ns=seen.cpu_ns,
        )


def _inside(frame: FrameType) -> tuple[BatchPhase, list[FrameType]]:
    """The phase of the fetch, and the user's functions in it from the outermost; without any, that of others."""
    users: list[FrameType] = []
    outermost: list[FrameType] = []
    phase: BatchPhase = "items"
    current: FrameType | None = frame
    while current is not None:
        code = current.f_code
        if code is TimedCollate.__call__.__code__:
            phase = "collate"
            break
        if code.co_filename == _OWN_FILE:
            break
        if is_users(current.f_code.co_filename):
            users.append(current)
        if not code.co_filename.endswith(_FETCHERS):
            outermost = [current]
        current = current.f_back
    return phase, users[::-1] or outermost


def _most(counts: dict[K, int]) -> K:
    return max(counts, key=lambda key: counts[key])


def _cpu_ns(thread: int) -> int | None:
    """CPU time that a thread of this process has used; ``None`` where the system does not tell."""
    clock_of = getattr(time, "pthread_getcpuclockid", None)
    # A thread that has ended meanwhile would be the end of the process; the main thread cannot.
    if clock_of is None or thread != threading.main_thread().ident:
        return None
    return time.clock_gettime_ns(clock_of(thread))
