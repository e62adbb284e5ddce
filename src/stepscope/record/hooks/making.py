"""Hears which loaders are started, and has the making of their batches metered where it happens."""

from __future__ import annotations

from threading import get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from stepscope.record.loader.fetching import FetchHook
from stepscope.record.loader.worker import MeteredLoop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stepscope.record.guard import Guard
    from stepscope.record.loader.meter import BatchMeter


class MakingHook:
    """Wraps the start of loaders, their workers' loop, their fetching and their pinning of memory.

    Args:
        folder: The rank's folder, which workers write to.
        starts: Gets the loader and its iterator at the beginning of an epoch; returns the loader's number.
        in_process: Gives the meter of this process when a loader without workers is started.
        pinned: Gets the time of pinning one batch.
        guard: What keeps failures away from the script.
    """

    def __init__(
        self,
        folder: Path,
        starts: Callable[[Any, Any], int],
        in_process: Callable[[], BatchMeter],
        pinned: Callable[[int], None],
        guard: Guard,
    ) -> None:
        self._folder, self._guard = folder, guard
        self._starts, self._in_process = starts, in_process
        self._pinned = guard.wrap(pinned)
        self._fetching = FetchHook()
        self._loop: MeteredLoop | None = None
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Begin to listen."""
        from torch.utils.data import _utils, dataloader

        self._fetching.install()
        self._undo.append(self._fetching.remove)
        original = _utils.worker._worker_loop
        loop = self._loop = MeteredLoop(self._folder, original, self._fetching)
        self._replace(_utils.worker, "_worker_loop", loop)
        self._wrap_start(dataloader._BaseDataLoaderIter)
        self._wrap_pinning(_utils.pin_memory)

    def remove(self) -> None:
        """Stop listening, unless somebody else has wrapped it since."""
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()

    def _replace(self, owner: Any, name: str, new: object) -> None:
        original = getattr(owner, name)
        setattr(owner, name, new)

        def undo() -> None:
            if getattr(owner, name) is new:
                setattr(owner, name, original)

        self._undo.append(undo)

    def _wrap_start(self, kind: Any) -> None:
        hook, original = self, kind.__init__

        def __init__(self: Any, loader: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(self, loader, *args, **kwargs)
            hook._guard.call(hook._started, loader, self)

        self._replace(kind, "__init__", __init__)
        reset = kind._reset

        def _reset(self: Any, *args: Any, **kwargs: Any) -> None:
            reset(self, *args, **kwargs)
            is_first = kwargs.get("first_iter", args[1] if len(args) > 1 else False)
            # Persistent workers live on, and only their iterator begins anew.
            if args and not is_first:
                hook._guard.call(hook._starts, args[0], self)

        self._replace(kind, "_reset", _reset)

    def _started(self, loader: Any, iterator: Any) -> None:
        # What follows in the same thread starts the workers, or makes the fetcher of this process.
        number = self._starts(loader, iterator)
        self._fetching.loader = number
        if self._loop is not None:
            self._loop.loader = number
        if iterator._num_workers == 0:
            self._fetching.listen(self._in_process(), self._guard)

    def _wrap_pinning(self, module: Any) -> None:
        pinned, original = self._pinned, module.pin_memory
        busy: set[int] = set()

        def pin_memory(data: Any, *args: Any, **kwargs: Any) -> Any:
            # It calls itself for the parts of a batch.
            thread = get_ident()
            if thread in busy:
                return original(data, *args, **kwargs)
            busy.add(thread)
            begin = perf_counter_ns()
            try:
                return original(data, *args, **kwargs)
            finally:
                busy.discard(thread)
                pinned(perf_counter_ns() - begin)

        self._replace(module, "pin_memory", pin_memory)
