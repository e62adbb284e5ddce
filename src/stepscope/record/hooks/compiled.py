"""Hears optimizer steps inside compiled functions, where no hook of PyTorch's runs."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.record.guard import Guard
    from stepscope.record.usual import Usual

MOST_PARAMETERS = 16
"""So many parameters of an optimizer tell whether it has stepped: PyTorch counts the changes of each."""


class CompiledHook:
    """Wraps what ``torch.compile`` makes of functions, and sees by the parameters whether an optimizer has stepped.

    Compiled modules are left alone: their steps are those of an optimizer outside.

    Args:
        stepped: Gets the optimizer.
        guard: What keeps failures away from the script.
        usual: Tells whether an optimizer has stepped where hooks run.
    """

    def __init__(self, stepped: Callable[[object], None], guard: Guard, usual: Usual) -> None:
        self._stepped, self._guard = stepped, guard
        self._optimizers: WeakSet[Any] = WeakSet()
        self._depth = 0
        self._usual = usual
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Begin to listen."""
        import torch
        from torch.optim.optimizer import Optimizer

        hook, patch, original = self, Optimizer._patch_step_function, torch.compile

        def _patch_step_function(optimizer: Any) -> None:
            hook._optimizers.add(optimizer)
            patch(optimizer)

        @functools.wraps(original)
        def compile(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if args or "model" in kwargs:
                return hook._watched(made)
            return functools.partial(hook._decorate, made)

        self._replace(Optimizer, "_patch_step_function", _patch_step_function, patch)
        self._replace(torch, "compile", compile, original)

    def remove(self) -> None:
        """Stop listening, unless somebody else has wrapped it since."""
        for undo in self._undo:
            undo()
        self._undo.clear()
        self._optimizers.clear()

    def _replace(self, owner: Any, name: str, new: object, original: object) -> None:
        setattr(owner, name, new)

        def undo() -> None:
            if getattr(owner, name) is new:
                setattr(owner, name, original)

        self._undo.append(undo)

    def _decorate(self, made: Callable[[Any], Any], function: Any) -> Any:
        return self._watched(made(function))

    def _watched(self, made: Any) -> Any:
        """What ``torch.compile`` has made, with an eye on the optimizers around the outermost call."""
        import torch

        if isinstance(made, torch.nn.Module) or not callable(made):
            return made
        is_compiling = torch.compiler.is_compiling

        @functools.wraps(made)
        def call(*args: Any, **kwargs: Any) -> Any:
            if is_compiling() or self._depth or not self._optimizers:
                return made(*args, **kwargs)
            before = self._guard.call(self._versions)
            self._depth, self._usual.heard = 1, False
            try:
                return made(*args, **kwargs)
            finally:
                self._depth = 0
                if not self._usual.heard and before:
                    self._guard.call(self._compare, before)

        return call

    def _versions(self) -> list[tuple[Any, tuple[int, ...]]]:
        return [(one, _versions_of(one)) for one in self._optimizers]

    def _compare(self, before: list[tuple[Any, tuple[int, ...]]]) -> None:
        for optimizer, versions in before:
            if _versions_of(optimizer) != versions:
                self._stepped(optimizer)


def _versions_of(optimizer: Any) -> tuple[int, ...]:
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    # Those of inference mode are not counted, and an optimizer cannot change them.
    return tuple(one._version for one in parameters[:MOST_PARAMETERS] if not one.is_inference())
