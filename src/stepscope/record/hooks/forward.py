"""Hears calls of the outermost module, for programs that have neither an optimizer nor a DataLoader."""

from __future__ import annotations

import functools
from threading import get_ident
from typing import TYPE_CHECKING, Any

from stepscope.record.hooks.unseen import as_its_own

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.record.guard import Guard

SURE_CALLS = 3
"""When a module has been called so often from outside of all modules, it is known which classes to listen to."""

MOST_MODULES = 64
"""A program that calls so many modules without calling one again has no step that could be found so."""


class ForwardHook:
    """Listens to all modules until it is known which are called from outside, and then to their classes alone.

    Instances stay untouched, so that they can be copied and pickled, and hooks of PyTorch's, which slow
    every module and which the compiler warns about, are not used.

    Args:
        begins: Gets the identity of a module that is called from outside of all others.
        guard: What keeps failures away from the script.
    """

    def __init__(self, begins: Callable[[int], None], guard: Guard) -> None:
        self._begins = guard.wrap(begins)
        self._seen = guard.wrap(self._note)
        self._undo: list[Callable[[], None]] = []
        self._calls: dict[int, int] = {}
        self._classes: list[type] = []
        self._thread: int | None = None
        self._depth = 0

    def install(self) -> None:
        """Begin to listen."""
        from torch.nn import Module

        self._wrap(Module, self._seen)

    def remove(self) -> None:
        """Stop listening, unless somebody else has wrapped it since."""
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()

    def _note(self, module: Any) -> None:
        """A module is called from outside while it is not known yet which ones usually are."""
        calls = self._calls[id(module)] = self._calls.get(id(module), 0) + 1
        if type(module) not in self._classes:
            self._classes.append(type(module))
        if calls == SURE_CALLS or len(self._calls) > MOST_MODULES:
            self.remove()
        if calls == SURE_CALLS:
            for kind in self._classes:
                self._wrap(kind, lambda one: self._begins(id(one)))
        self._begins(id(module))

    def _wrap(self, kind: Any, told: Callable[[Any], None]) -> None:
        from torch.compiler import is_compiling

        hook, own = self, kind.__dict__.get("__call__")

        @functools.wraps(kind.__call__)
        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            # Without a function of its own the class above is asked anew each time: others may wrap that too.
            above: Any = super(kind, module)
            call = above.__call__ if own is None else own.__get__(module)
            # What is compiled would have the hook compiled into it.
            if is_compiling() or hook._depth or not hook._is_here():
                return call(*args, **kwargs)
            told(module)
            hook._depth += 1
            try:
                return call(*args, **kwargs)
            finally:
                hook._depth -= 1

        as_its_own(__call__, kind.__call__)
        kind.__call__ = __call__

        def undo() -> None:
            if kind.__dict__.get("__call__") is not __call__:
                return
            if own is None:
                del kind.__call__
            else:
                kind.__call__ = own

        self._undo.append(undo)

    def _is_here(self) -> bool:
        """Whether this is the thread whose calls are listened to: that of the first one."""
        if self._thread is None:
            self._thread = get_ident()
        return self._thread == get_ident()
