"""Large files decoded by several threads or processes at once, and put together in the order of the file.

Where there is the compiled core, which works without the interpreter's lock, threads are enough; else
processes do it. Those are plain children that import only what decoding needs: nothing is forked, so that
threads of a table library or a notebook cannot be caught half-way, and the user's program is not run again.
When anything is odd (a batch cut in the wrong place, a child that dies), the file is read in one piece,
which can do all of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import LimitError
from stepscope.trace import compiled
from stepscope.trace.worker import Batch, Decoded, decode, receive, send

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

START = "import sys; sys.path[:] = sys.argv[1:]; from stepscope.trace.worker import main; main()"
MOST_WORKERS = 8


class NeedsOneReader(Exception):  # noqa: N818  (no error: the file is read in the other way)
    """The file cannot be read in batches."""


def decode_all(batches: Iterable[Batch], count: int) -> list[Decoded]:
    """Decodes batches by ``count`` workers.

    Args:
        batches: In order; asked for one by one, as the workers get free.
        count: Threads or processes to start.

    Returns:
        The results, in order.

    Raises:
        LimitError: A batch crosses a documented limit.
        NeedsOneReader: A batch was not whole, or a process died.
    """
    results: dict[int, Decoded] = {}
    jobs = _Jobs(batches)
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(count, "stepscope-decode"))
        kind = _Child if compiled.core is None else _Worker
        workers = [stack.enter_context(kind()) for _ in range(count)]
        stack.callback(jobs.stop)
        working = [pool.submit(worker.run, jobs, results) for worker in workers]
        for future in working:
            future.result()
    return [results[number] for number in range(len(results))]


class _Jobs:
    """Batches with their numbers, handed out to several threads."""

    def __init__(self, batches: Iterable[Batch]) -> None:
        self._batches: Iterator[tuple[int, Batch]] = iter(enumerate(batches))
        self._lock = threading.Lock()
        self._is_stopped = False

    def next(self) -> tuple[int, Batch] | None:
        """The next one, None when there is none."""
        with self._lock:
            return None if self._is_stopped else next(self._batches, None)

    def stop(self) -> None:
        """Hands out no more."""
        self._is_stopped = True


class _Worker:
    """Decodes in its own thread."""

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, jobs: _Jobs, results: dict[int, Decoded]) -> None:
        """Works until there are no more jobs, or one of the workers fails."""
        try:
            while (job := jobs.next()) is not None:
                number, batch = job
                results[number] = _whole(self.decode(batch))
        except BaseException:
            jobs.stop()
            raise

    def decode(self, batch: Batch) -> Decoded:
        """What becomes of a batch."""
        return decode(batch)


def _whole(decoded: Decoded) -> Decoded:
    if not decoded.is_whole:
        raise NeedsOneReader
    return decoded


class _Child(_Worker):
    """Lets a child process decode, which is gone when the block ends."""

    def __enter__(self) -> _Worker:
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        self._process = subprocess.Popen(  # noqa: S603  (this interpreter, on this package)
            [sys.executable, "-c", START, *(p or str(Path.cwd()) for p in sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **threads},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            # What could not be sent to a child that died is tried again here.
            with suppress(OSError):
                if stream:
                    stream.close()

    def decode(self, batch: Batch) -> Decoded:
        """What becomes of a batch."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            send(self._process.stdin, batch)
            answer = receive(self._process.stdout)
        except (EOFError, OSError):
            raise NeedsOneReader from None
        if isinstance(answer, LimitError):
            raise answer
        if not isinstance(answer, Decoded):
            raise NeedsOneReader
        return answer
