"""Hears when the script starts a profiler of its own: there can only be one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class ProfilerHook:
    """Wraps the start and the end of PyTorch's autograd profiler, on which all its profilers rest.

    Args:
        starts: Called before a profiler gets ready, with its identity.
        ends: Called after it has stopped.
    """

    def __init__(self, starts: Callable[[int], None], ends: Callable[[int], None]) -> None:
        self._starts, self._ends = starts, ends
        self._originals: tuple[Any, Any] | None = None
        self._installed: tuple[Any, Any] | None = None

    def install(self) -> None:
        """Begin to listen."""
        from torch.autograd.profiler import profile

        starts, ends = self._starts, self._ends
        prepare, leave = profile._prepare_trace, profile.__exit__
        self._originals = (prepare, leave)

        def _prepare_trace(self: Any) -> Any:
            starts(id(self))
            return prepare(self)  # type: ignore[no-untyped-call]

        def __exit__(self: Any, *exception: Any) -> Any:  # noqa: N807
            try:
                return leave(self, *exception)  # type: ignore[no-untyped-call]
            finally:
                ends(id(self))

        self._installed = (_prepare_trace, __exit__)
        profile._prepare_trace, profile.__exit__ = self._installed  # type: ignore[method-assign]

    def remove(self) -> None:
        """Stop listening, unless somebody else has wrapped it since."""
        from torch.autograd.profiler import profile

        if self._installed is None or self._originals is None:
            return
        if (profile._prepare_trace, profile.__exit__) == self._installed:
            profile._prepare_trace, profile.__exit__ = self._originals  # type: ignore[method-assign]
        self._installed = None


def profiler_runs() -> bool:
    """Whether any profiler is enabled in this thread, also one that this hook does not hear."""
    import torch

    return bool(torch._C._autograd._profiler_enabled())
