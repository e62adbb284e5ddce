"""Hears which loaders are started, and leaves the making of their batches alone."""

from __future__ import annotations

from typing import Any

from stepscope.record.hooks.making import MakingHook


class StartHook(MakingHook):
    """As the hook that meters the making of batches, without any meter."""

    def install(self) -> None:
        """Begin to listen."""
        from torch.utils.data import dataloader

        self._wrap_start(dataloader._BaseDataLoaderIter)

    def _started(self, loader: Any, iterator: Any) -> None:
        self._starts(loader, iterator)
