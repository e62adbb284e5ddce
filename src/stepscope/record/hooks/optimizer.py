"""Hears every ``Optimizer.step``, of all optimizers, through PyTorch's own global hook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class OptimizerHook:
    """Calls back after each optimizer step.

    Args:
        stepped: Gets the optimizer.
    """

    def __init__(self, stepped: Callable[[object], None]) -> None:
        self._stepped = stepped
        self._handle: Any = None

    def install(self) -> None:
        """Begin to listen."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook

        stepped, is_compiling = self._stepped, torch.compiler.is_compiling

        def after_step(optimizer: object, _args: object, _kwargs: object) -> None:
            # Inside a compiled step the hook would be compiled too, and the graph broken for it.
            if not is_compiling():
                stepped(optimizer)

        self._handle = register_optimizer_step_post_hook(after_step)

    def remove(self) -> None:
        """Stop listening."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


def optimizer_exists() -> bool:
    """Whether the script has made an optimizer, so that a loop without optimizer steps is no training."""
    from torch.optim import Optimizer

    kinds = [Optimizer]
    while kinds:
        kind = kinds.pop()
        # PyTorch sets this when it instruments the class for its first instance.
        if getattr(kind.__dict__.get("step"), "hooked", False):
            return True
        kinds.extend(kind.__subclasses__())
    return False
