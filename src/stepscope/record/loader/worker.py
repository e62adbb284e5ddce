"""A loader's worker with a meter in it."""

from __future__ import annotations

import multiprocessing.queues
from pathlib import Path
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any

from stepscope.record.guard import Guard
from stepscope.record.loader.fetching import FetchHook
from stepscope.record.loader.meter import BatchMeter
from stepscope.record.loader.own_memory import OwnMemory
from stepscope.record.loader.places import OpenedFiles
from stepscope.record.loader.sampler import StackSampler
from stepscope.record.voice import Voice

if TYPE_CHECKING:
    from collections.abc import Callable


INDICES, WORKER = 2, 10
"""Where the loop gets its queue of batches to make, and its number."""


class MeteredLoop:
    """Stands for PyTorch's worker loop, which runs inside, and meters the batches that it makes.

    PyTorch hands it to the worker: by fork as it is, by spawn and forkserver as a pickle, from which
    the worker makes a fresh one around its own PyTorch's loop.

    Args:
        folder: The rank's folder.
        original: PyTorch's loop.
        hook: The wrappers that a forked worker inherits.

    Attributes:
        loader: Number of the loader that starts workers now.
    """

    def __init__(self, folder: Path, original: Callable[..., None], hook: FetchHook) -> None:
        self._folder = folder
        self._original = original
        self._hook = hook
        self.loader = -1

    def __reduce__(self) -> tuple[Any, ...]:
        """What a worker that is not forked gets."""
        return _arrived, (str(self._folder), self.loader)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Run the loop to its end."""
        guard = Guard(Voice())
        meter = guard.call(self._start, guard, args)
        if meter is not None and hasattr(args[INDICES], "get"):
            numbered = NumberedQueue(args[INDICES], guard.wrap(meter.numbered))
            args = (*args[:INDICES], numbered, *args[INDICES + 1 :])
        try:
            self._original(*args, **kwargs)
        finally:
            if meter is not None:
                guard.finish(meter.close)

    def _start(self, guard: Guard, args: tuple[Any, ...]) -> BatchMeter:
        worker = int(args[WORKER])
        meter = BatchMeter(self._folder, worker)
        opened = OpenedFiles(self._folder, self.loader, worker, meter)
        opened.listen()
        sampler = StackSampler(self._folder, worker, meter, guard)
        sampler.start()
        memory = OwnMemory(self._folder, self.loader, worker)

        def flush() -> None:
            sampler.write()
            opened.write()
            memory.write()

        meter.on_flush = flush
        self._hook.loader = self.loader
        self._hook.listen(meter, guard)
        _time_sending(meter, guard)
        return meter


class NumberedQueue:
    """The queue from which the loop takes batches to make, and which tells their numbers.

    Args:
        queue: PyTorch's.
        numbered: Gets the number of the batch that is made next.
    """

    def __init__(self, queue: Any, numbered: Callable[[int], None]) -> None:
        self._queue = queue
        self._numbered = numbered

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """What the queue holds next."""
        task = self._queue.get(*args, **kwargs)
        if type(task) is tuple and len(task) == 2 and type(task[0]) is int:
            self._numbered(task[0])
        return task


def _arrived(folder: str, loader: int) -> MeteredLoop:
    """The loop in a worker that was not forked, where nothing of PyTorch is wrapped yet."""
    from torch.utils.data._utils import worker

    hook = FetchHook()
    hook.install()
    loop = MeteredLoop(Path(folder), worker._worker_loop, hook)
    loop.loader = loader
    return loop


def _time_sending(meter: BatchMeter, guard: Guard) -> None:
    """Time the packing of batches, which the queue does in a thread of its own.

    The queue looks its pickler up in this module, and this process is the worker's alone.
    """
    pickler: Any = multiprocessing.queues._ForkingPickler  # type: ignore[attr-defined]
    sent = guard.wrap(meter.sent)

    class TimedPickler(pickler):  # type: ignore[misc]
        @classmethod
        def dumps(cls, obj: Any, protocol: int | None = None) -> Any:
            begin, begin_cpu = perf_counter_ns(), thread_time_ns()
            packed = pickler.dumps(obj, protocol)
            if type(obj) is tuple and len(obj) == 2 and type(obj[0]) is int:
                sent(obj[0], perf_counter_ns() - begin, thread_time_ns() - begin_cpu)
            return packed

    multiprocessing.queues._ForkingPickler = TimedPickler  # type: ignore[attr-defined]
