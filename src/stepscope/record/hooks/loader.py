"""Hears every batch that a ``DataLoader`` hands over in the process that trains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class LoaderHook:
    """Wraps ``__next__`` of PyTorch's loader iterators.

    Workers never call it, so nothing of this runs in them.

    Args:
        begins: Gets the iterator that is asked for a batch.
        returns: Gets the iterator, and whether it hands over a batch; it raises otherwise.
    """

    def __init__(
        self, begins: Callable[[object], None], returns: Callable[[object, bool], None]
    ) -> None:
        self._begins, self._returns = begins, returns
        self._original: Any = None
        self._installed: Any = None

    def install(self) -> None:
        """Begin to listen."""
        from torch.utils.data.dataloader import _BaseDataLoaderIter

        begins, returns = self._begins, self._returns
        original = self._original = _BaseDataLoaderIter.__next__

        def __next__(self: Any) -> Any:  # noqa: N807
            begins(self)
            try:
                batch = original(self)
            except BaseException:
                returns(self, False)
                raise
            returns(self, True)
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
