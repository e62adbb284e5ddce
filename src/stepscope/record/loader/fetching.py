"""Puts a meter around PyTorch's fetching of batches, in this process and in those forked from it."""

from __future__ import annotations

from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.record.guard import Guard
    from stepscope.record.loader.meter import BatchMeter

LOADER_MARK = "_stepscope_loader"


class FetchHook:
    """Wraps what PyTorch's two fetchers do, for as long as a meter is set.

    A fetcher belongs to one loader in one process. In a forked worker the wrappers are there already and
    the parent's meter is not listened to any more, until the worker sets its own.

    Attributes:
        loader: Number of the loader that is started now.
    """

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._begin: Callable[[int], bool | None] | None = None
        self._end: Callable[[bool], None] | None = None
        self._collated: Callable[[int, int], None] | None = None
        self._meter: BatchMeter | None = None
        self.loader = -1

    def listen(self, meter: BatchMeter, guard: Guard) -> None:
        """Tell this meter from now on, behind this guard."""

        def begin(loader: int) -> bool | None:
            return guard.call(meter.begin, loader)

        self._begin, self._end = begin, guard.wrap(meter.end)
        self._collated = guard.wrap(meter.collated)
        self._meter = meter

    def install(self) -> None:
        """Put the wrappers in place."""
        from torch.utils.data._utils import fetch as fetchers

        base = fetchers._BaseDatasetFetcher
        self._wrap_construction(base)
        for kind in (fetchers._MapDatasetFetcher, fetchers._IterableDatasetFetcher):
            self._wrap_fetch(kind)

    def remove(self) -> None:
        """Put the originals back, unless somebody else has wrapped them since."""
        for undo in self._undo:
            undo()
        self._undo.clear()

    def _wrap_construction(self, kind: Any) -> None:
        hook, original = self, kind.__init__

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(self, *args, **kwargs)
            setattr(self, LOADER_MARK, hook.loader)

        kind.__init__ = __init__
        self._undo.append(lambda: _restore(kind, "__init__", __init__, original))

    def _wrap_fetch(self, kind: Any) -> None:
        hook, original = self, kind.fetch

        def fetch(self: Any, index: Any) -> Any:
            meter = hook._meter
            if meter is None:
                return original(self, index)
            if meter.passes and meter.fetch is None:
                # Most small batches come here; see the meter for how many are passed over.
                meter.passes -= 1
                return original(self, index)
            begin, end, collated = hook._begin, hook._end, hook._collated
            if begin is None or end is None or collated is None:
                return original(self, index)
            if not begin(getattr(self, LOADER_MARK, -1)):
                return original(self, index)
            function = self.collate_fn
            self.collate_fn = TimedCollate(function, collated)
            is_made = False
            try:
                data = original(self, index)
                is_made = True
            finally:
                self.collate_fn = function
                end(is_made)
            return data

        kind.fetch = fetch
        self._undo.append(lambda: _restore(kind, "fetch", fetch, original))


class TimedCollate:
    """A collate function that tells how long it took, wall and CPU time of its thread.

    Args:
        function: The loader's own.
        told: Gets both.
    """

    def __init__(self, function: Callable[[Any], Any], told: Callable[[int, int], None]) -> None:
        self._function = function
        self._told = told

    def __call__(self, items: Any) -> Any:
        """What the function returns."""
        begin, begin_cpu = perf_counter_ns(), thread_time_ns()
        try:
            return self._function(items)
        finally:
            self._told(perf_counter_ns() - begin, thread_time_ns() - begin_cpu)


def _restore(kind: Any, name: str, installed: object, original: object) -> None:
    if getattr(kind, name) is installed:
        setattr(kind, name, original)
