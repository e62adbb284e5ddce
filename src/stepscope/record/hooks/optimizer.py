"""Hears the end of every ``Optimizer.step``, of all optimizers."""

from __future__ import annotations

import functools
from threading import get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.record.usual import MOST_EVENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stepscope.record.usual import Usual

_MARK = "_stepscope_wraps"


class OptimizerHook:
    """Calls back after each optimizer step.

    PyTorch instruments the ``step`` of each optimizer class when its first instance is made. This
    wraps what that makes of it, so that the call comes after the profiler's own mark for the
    optimizer has ended, and once for an optimizer inside an optimizer. Classes that were
    instrumented before are heard through PyTorch's global hook, which runs inside that mark.

    A class stays wrapped when the hook is removed, and from then on tells the hook that listens next.

    Args:
        usual: Tells which steps are only noted, and who gets the optimizer of the others.
    """

    _current: ClassVar[OptimizerHook | None] = None

    def __init__(self, usual: Usual) -> None:
        self._usual = usual
        self._depth = 0
        self._handle: Any = None
        self._original: Any = None
        self._installed: Any = None

    def install(self) -> None:
        """Begin to listen."""
        import torch
        from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

        is_compiling = torch.compiler.is_compiling
        OptimizerHook._current = self
        self._original = Optimizer.__dict__["profile_hook_step"]
        instrument = Optimizer.profile_hook_step

        def profile_hook_step(function: Callable[..., Any]) -> Callable[..., Any]:
            return _wrapped(function, instrument(function), is_compiling)

        self._installed = staticmethod(profile_hook_step)
        Optimizer.profile_hook_step = self._installed  # type: ignore[method-assign]

        def after_step(optimizer: object, _args: object, _kwargs: object) -> None:
            if not is_compiling() and not hasattr(getattr(type(optimizer), "step", None), _MARK):
                self._ended(optimizer)

        # Every step pays for it, so only where a class was instrumented before.
        if not all(hasattr(step, _MARK) for step in _instrumented()):
            self._handle = register_optimizer_step_post_hook(after_step)

    def remove(self) -> None:
        """Stop listening, unless somebody else has wrapped it since."""
        from torch.optim.optimizer import Optimizer

        if OptimizerHook._current is self:
            OptimizerHook._current = None
        if self._handle is not None:
            self._handle.remove()
        if Optimizer.__dict__["profile_hook_step"] is self._installed:
            Optimizer.profile_hook_step = self._original  # type: ignore[method-assign]

    def _call(self, instrumented: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        self._depth += 1
        try:
            result = instrumented(*args, **kwargs)
        finally:
            self._depth -= 1
        if self._depth == 0:
            self._ended(args[0])
        return result

    def _ended(self, optimizer: object) -> None:
        usual = self._usual
        if id(optimizer) != usual.optimizer or get_ident() != usual.thread:
            usual.stepped(optimizer)
            return
        # Every step of a long run pays for what follows: nothing in it can fail, so no guard.
        now = perf_counter_ns()
        usual.heard = True
        marks, noted = usual.marks, usual.noted
        if marks is None:
            noted.append((now, perf_counter_ns()))
        else:
            noted.append((now, perf_counter_ns(), *marks.take(now)))
        if now >= usual.due_ns or len(noted) >= MOST_EVENTS:
            usual.counts()


def _wrapped(
    function: Callable[..., Any],
    instrumented: Callable[..., Any],
    is_compiling: Callable[[], bool],
) -> Callable[..., Any]:
    @functools.wraps(function)
    def step(*args: Any, **kwargs: Any) -> Any:
        hook = OptimizerHook._current
        # Inside a compiled step this would be compiled too, and the graph broken for it.
        if hook is None or is_compiling():
            return instrumented(*args, **kwargs)
        return hook._call(instrumented, args, kwargs)

    setattr(step, _MARK, True)
    return step


def optimizer_exists() -> bool:
    """Whether the script has made an optimizer, so that a loop without optimizer steps is no training."""
    return next(_instrumented(), None) is not None


def _instrumented() -> Iterator[Any]:
    """The ``step`` of each class of optimizers of which there was an instance, where it has one of its own."""
    from torch.optim import Optimizer

    kinds: list[Any] = [Optimizer]
    while kinds:
        kind = kinds.pop()
        step = kind.__dict__.get("step")
        # PyTorch sets this when it instruments the class for its first instance.
        if getattr(step, "hooked", False):
            yield step
        kinds.extend(kind.__subclasses__())
