"""Changes of a script's settings from outside: the script stays as it is, PyTorch is told otherwise.

Each change is applied right after the script has imported PyTorch, for this process only.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is changed; ``None`` and ``False`` leave the script's own choice.

    Attributes:
        workers, prefetch: Of every DataLoader.
        pin, persistent: Pinned memory and workers that live on, of every DataLoader.
        threads: Threads of PyTorch's operators on the CPU.
        autocast: Type of mixed precision, for instance ``bfloat16``; ``""`` for none.
        channels_last: Whether images and weights lie with their channels last.
        tf32: Whether float32 products may use TF32.
        compile: Whether models are compiled.
        fused: Whether optimizers are fused.
    """

    workers: int | None = None
    prefetch: int | None = None
    pin: bool = False
    persistent: bool = False
    threads: int | None = None
    autocast: str = ""
    channels_last: bool = False
    tf32: bool = False
    compile: bool = False
    fused: bool = False


def apply(changes: Changes) -> None:
    """Apply the changes; PyTorch is imported by now."""
    import torch

    _change_loaders(changes)
    if changes.threads is not None:
        torch.set_num_threads(changes.threads)
        # The script's own choice would undo the change.
        torch.set_num_threads = lambda _: None  # type: ignore[assignment]
    if changes.tf32:
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True
    if changes.fused:
        for name in ("Adam", "AdamW", "SGD"):
            _with_arguments(getattr(torch.optim, name), _fused)
    if changes.autocast or changes.channels_last or changes.compile:
        _Models(changes).install()


def _change_loaders(changes: Changes) -> None:
    from torch.utils.data import DataLoader

    def changed(given: dict[str, Any]) -> None:
        if changes.workers is not None:
            given["num_workers"] = changes.workers
        if given.get("num_workers", 0) == 0:
            given["prefetch_factor"], given["persistent_workers"] = None, False
            given["timeout"] = 0
        else:
            if changes.prefetch is not None:
                given["prefetch_factor"] = changes.prefetch
            if changes.persistent:
                given["persistent_workers"] = True
        if changes.pin:
            given["pin_memory"] = True

    _with_arguments(DataLoader, changed)


def _with_arguments(cls: type, change: Callable[[dict[str, Any]], None]) -> None:
    """Have a class made with other arguments; ``change`` gets them by name."""
    original: Any = cls.__init__  # type: ignore[misc]
    signature = inspect.signature(original)

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        bound = signature.bind(self, *args, **kwargs)
        change(bound.arguments)
        original(*bound.args, **bound.kwargs)

    cls.__init__ = __init__  # type: ignore[misc]


def _fused(given: dict[str, Any]) -> None:
    if not given.get("foreach"):
        given["fused"] = True


class _Models:
    """Changes the outermost module of every forward pass: the model, and a loss that is a module.

    Args:
        changes: What to change.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._depth = 0
        self._known: set[int] = set()
        self._open: Any = None

    def install(self) -> None:
        """Begin to listen to all modules."""
        from torch.nn.modules import module

        module.register_module_forward_pre_hook(self._before)
        module.register_module_forward_hook(self._after, always_call=True)

    def _before(self, module: Any, inputs: Any) -> Any:
        import torch
        from torch.nn.parameter import is_lazy

        self._depth += 1
        if self._depth > 1:
            return None
        parameters = list(module.parameters())
        # Parameters of lazy modules have no shape before the first pass.
        first = id(module) not in self._known and not any(map(is_lazy, parameters))
        if first:
            self._known.add(id(module))
        if first and self._changes.channels_last:
            module.to(memory_format=torch.channels_last)
        if first and self._changes.compile and parameters:
            module.compile()
        if self._changes.autocast and torch.is_grad_enabled():
            device = "cuda" if torch.cuda.is_available() else "cpu"
            dtype = getattr(torch, self._changes.autocast)
            self._open = torch.autocast(device, dtype=dtype)
            self._open.__enter__()
        if not self._changes.channels_last:
            return None
        return tuple(
            one.contiguous(memory_format=torch.channels_last)
            if isinstance(one, torch.Tensor) and one.dim() == 4
            else one
            for one in inputs
        )

    def _after(self, module: Any, inputs: Any, output: Any) -> None:  # noqa: ARG002
        self._depth -= 1
        if self._depth == 0 and self._open is not None:
            self._open.__exit__(None, None, None)
            self._open = None
