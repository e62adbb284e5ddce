"""Hears where the parts of a step begin and end: forward, backward, collectives, optimizer."""

from __future__ import annotations

import functools
from threading import get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from stepscope.record.hooks.unseen import as_its_own

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.record.guard import Guard
    from stepscope.record.marks import Marks

COLLECTIVES = (
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "gather",
    "gather_object",
    "monitored_barrier",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "send",
)
"""Functions of ``torch.distributed`` that wait for other ranks on the host where the backend does (gloo, MPI)."""


class PhaseHook:
    """Wraps what bounds the parts of a step; nothing of it is called by a step that has none of these parts.

    Args:
        marks: Takes the times.
        guard: Tells whether the recorder still runs.
    """

    def __init__(self, marks: Marks, guard: Guard) -> None:
        self._marks, self._guard = marks, guard
        self._inside: set[str] = set()
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Begin to listen."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        marks, guard = self._marks, self._guard

        def before_step(_optimizer: object, _args: object, _kwargs: object) -> None:
            if guard.is_on and not marks.is_paused and not marks.optimizer_ns:
                marks.optimizer_ns = perf_counter_ns()

        handle = register_optimizer_step_pre_hook(before_step)
        self._undo.append(handle.remove)
        self._wrap(torch.autograd, "backward", "backward", marks.passed_backward)
        distributed: Any = torch.distributed
        if not distributed.is_available():
            return
        from torch.nn.parallel import DistributedDataParallel

        self._wrap(DistributedDataParallel, "forward", "forward", marks.passed_forward)
        self._wrap_waiting(DistributedDataParallel, "_sync_buffers")
        for name in COLLECTIVES:
            self._wrap_waiting(distributed, name)
        self._wrap_waiting(distributed.Work, "wait")

    def remove(self) -> None:
        """Stop listening, unless somebody else has wrapped it since."""
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()

    def _wrap_waiting(self, owner: Any, name: str) -> None:
        if hasattr(owner, name):
            self._wrap(owner, name, "sync", self._marks.waited)

    def _wrap(self, owner: Any, name: str, part: str, ended: Callable[[int, int], None]) -> None:
        """Time a function; one inside another of the same part is the outer one's."""
        from torch.compiler import is_compiling

        original = getattr(owner, name)
        marks, guard, inside = self._marks, self._guard, self._inside

        @functools.wraps(original)
        def timed(*args: Any, **kwargs: Any) -> Any:
            # Inside a compiled region this would be compiled too, and the graph broken for it.
            if is_compiling() or part in inside or marks.is_paused or not guard.is_on:
                return original(*args, **kwargs)
            if marks.thread is not None and marks.thread != get_ident():
                return original(*args, **kwargs)
            inside.add(part)
            sync, begin = marks.sync, perf_counter_ns()
            try:
                return original(*args, **kwargs)
            finally:
                inside.discard(part)
                ended(begin, sync)

        if isinstance(owner, type):
            as_its_own(timed, original)
        setattr(owner, name, timed)

        def undo() -> None:
            if getattr(owner, name) is timed:
                setattr(owner, name, original)

        self._undo.append(undo)
