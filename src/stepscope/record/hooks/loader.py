"""Hears every batch that a ``DataLoader`` hands over in the process that trains."""

from __future__ import annotations

from threading import get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.record.usual import Usual


class LoaderHook:
    """Wraps ``__next__`` of PyTorch's loader iterators.

    Workers never call it, so nothing of this runs in them.

    Args:
        usual: Tells which batches are only noted, and who gets the others.
    """

    def __init__(self, usual: Usual) -> None:
        self._usual = usual
        self._original: Any = None
        self._installed: Any = None

    def install(self) -> None:
        """Begin to listen."""
        from torch.utils.data.dataloader import _BaseDataLoaderIter

        usual = self._usual
        original = self._original = _BaseDataLoaderIter.__next__

        def __next__(self: Any) -> Any:  # noqa: N807
            if id(self) != usual.loader or get_ident() != usual.thread:
                usual.asked(self)
                try:
                    batch = original(self)
                except BaseException:
                    usual.returned(self, False)
                    raise
                usual.returned(self, True)
                return batch
            # Every batch of a long run pays for what follows: nothing in it can fail, so no guard.
            usual.is_inside = True
            asked = perf_counter_ns()
            try:
                batch = original(self)
            except BaseException:
                usual.is_inside = False
                usual.ended(self, asked)
                raise
            usual.is_inside = False
            now = perf_counter_ns()
            usual.noted.append((asked, now, self._rcvd_idx if usual.numbers else 0))
            if now >= usual.due_ns:
                usual.counts()
            return batch

        self._installed = __next__
        _BaseDataLoaderIter.__next__ = __next__  # type: ignore[method-assign]

    def remove(self) -> None:
        """Stop listening, unless somebody else has wrapped it since."""
        from torch.utils.data.dataloader import _BaseDataLoaderIter

        if self._installed is not None and _BaseDataLoaderIter.__next__ is self._installed:
            _BaseDataLoaderIter.__next__ = self._original  # type: ignore[method-assign]
        self._installed = None


def loader_key(iterator: object) -> int:
    """The same number for every epoch of one loader: that of the sampler that the loader keeps."""
    return id(getattr(iterator, "_index_sampler", iterator))


def buffered_batches(iterator: object) -> int:
    """How many batches its workers may have ready before the first one is asked for."""
    workers = getattr(iterator, "_num_workers", 0)
    factor = getattr(iterator, "_prefetch_factor", None)
    return int(workers) * int(factor if factor is not None else 2)
