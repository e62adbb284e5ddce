"""Processes that work off a list of tasks, and survive the loss of one of them."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from stepscope.errors import InputError
from stepscope.trace.cores import usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

TABLE_THREADS = "POLARS_MAX_THREADS"
"""Each process gets its share of the cores; the variable counts when the table library is imported."""


def work_off(
    function: Callable[[T], R],
    items: Sequence[T],
    processes: int,
    done: Callable[[int], None] | None = None,
) -> list[R | InputError]:
    """A function of every item, in the order of the items.

    A process that dies (killed for its memory, most often) loses the items that were in work; they are
    tried once more, one at a time, and an item that kills its process again is given up.

    Args:
        function: A function that can be pickled.
        items: What it takes.
        processes: How many work at once; with 1 this process does it all.
        done: Called with the number of items done whenever one is.

    Returns:
        What the function gave; an ``InputError`` for an item that was given up.
    """
    found: dict[int, R | InputError] = {}

    def keep(number: int, value: R | InputError) -> None:
        found[number] = value
        if done:
            done(len(found))

    if processes <= 1 or len(items) <= 1:
        for number, item in enumerate(items):
            keep(number, function(item))
    else:
        _in_pool(function, dict(enumerate(items)), processes, keep)
        for number in [n for n in range(len(items)) if n not in found]:
            _in_pool(function, {number: items[number]}, 1, keep)
            if number not in found:
                keep(number, InputError("the process that analysed it died, most often for memory"))
    return [found[number] for number in range(len(items))]


def _in_pool(
    function: Callable[[T], R],
    items: dict[int, T],
    processes: int,
    keep: Callable[[int, R], None],
) -> None:
    """Works off what it can; returns early, with items left, when a process dies."""
    # Most analyses are of one file and start no process.
    import multiprocessing  # noqa: PLC0415
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait  # noqa: PLC0415
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    with (
        _few_table_threads(max(usable_cores() // processes, 1)),
        ProcessPoolExecutor(
            min(processes, len(items)), multiprocessing.get_context("spawn"), _leave_interrupts
        ) as pool,
    ):
        waiting = iter(items.items())
        running: dict[Future[R], int] = {}
        try:
            while True:
                # Few at a time, so that results are taken up as they come and a break loses few.
                for number, item in waiting:
                    running[pool.submit(function, item)] = number
                    if len(running) >= 2 * processes:
                        break
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    keep(running.pop(future), future.result())
        except BrokenProcessPool:
            return
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts() -> None:
    """Ctrl-C is for the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _few_table_threads(count: int) -> Iterator[None]:
    """The processes started inside inherit the number."""
    before = os.environ.get(TABLE_THREADS)
    os.environ.setdefault(TABLE_THREADS, str(count))
    try:
        yield
    finally:
        if before is None:
            del os.environ[TABLE_THREADS]
