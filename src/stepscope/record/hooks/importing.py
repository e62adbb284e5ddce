"""Waits for the script to import torch, so that the script is the first to do so."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import sys
from time import perf_counter_ns
from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class ImportHook(importlib.abc.MetaPathFinder):
    """Calls back once, right after the module has been imported for the first time.

    Args:
        name: Top-level module to wait for.
        then: What to call; called at once when the module is there already.

    Attributes:
        took_ns: How long importing it took; ``None`` before, and when it was there already.
    """

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name = name
        self._then = then
        self._is_asking = False
        self.took_ns: int | None = None

    def install(self) -> None:
        """Begin to wait."""
        if self._name in sys.modules:
            self._then()
        else:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Stop waiting."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Python's question for a module: the usual answer, with our callback behind its execution.

        Scripts ask without importing too, so waiting goes on until the module is executed.
        """
        if fullname != self._name or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._is_asking = False
        if spec is not None and spec.loader is not None:
            self._watch(spec.loader)
        return spec

    def _watch(self, loader: Any) -> None:
        """Have the loader call back after it has executed our module; other modules may share it."""
        execute = getattr(loader, "exec_module", None)
        if execute is None or getattr(execute, "__self__", None) is self:
            return

        def execute_then_call(hook: ImportHook, module: ModuleType) -> None:
            if module.__name__ != hook._name:
                execute(module)
                return
            # The loader stays the module's own for good, so it gets its own method back first.
            vars(loader).pop("exec_module", None)
            hook.remove()
            begin = perf_counter_ns()
            execute(module)
            hook.took_ns = perf_counter_ns() - begin
            hook._then()

        # A loader without room for an attribute is left alone: better unrecorded than not imported.
        with contextlib.suppress(AttributeError):
            loader.exec_module = MethodType(execute_then_call, self)
