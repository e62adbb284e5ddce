"""Where a step's time goes, by marks of the training thread: no profiler, a few sums."""

from __future__ import annotations

from threading import get_ident
from time import perf_counter_ns


class Marks:
    """Sums of the present step's parts; see ``schema.light.PARTS`` for what they are.

    Attributes:
        thread: The thread that trains; ``None`` while that is not known, so that all are heard.
        is_paused: Whether something else than training runs, so that nothing counts.
        arrived_ns: When the last gradient of the backward pass was there; 0 while none was.
        last: Which parameter's it was.
    """

    def __init__(self) -> None:
        self.thread: int | None = None
        self.is_paused = False
        self.arrived_ns = 0
        self.last = 0
        self._sync_at_arrival = 0
        self._forward = self._backward = self._sync = self._optimizer = 0
        self._optimizer_ns = 0

    def hears(self) -> bool:
        """Whether what happens now is part of a training step."""
        return not self.is_paused and (self.thread is None or get_ident() == self.thread)

    @property
    def sync_ns(self) -> int:
        """Waiting so far in this step."""
        return self._sync

    def waited(self, begin: int, _sync: int) -> None:
        """A collective that began then has returned."""
        self._sync += perf_counter_ns() - begin

    def passed_forward(self, begin: int, sync: int) -> None:
        """A forward pass has ended; ``sync`` is what :attr:`sync_ns` was when it began."""
        self._forward += perf_counter_ns() - begin - (self._sync - sync)

    def arrives(self, parameter: object) -> None:
        """A gradient is there; called in whichever thread computes it."""
        self.arrived_ns = perf_counter_ns()
        self.last = id(parameter)
        self._sync_at_arrival = self._sync

    def passed_backward(self, begin: int, sync: int) -> None:
        """A backward pass has ended; what follows its last gradient is waiting for the other ranks."""
        end, arrived = perf_counter_ns(), self.arrived_ns
        if arrived > begin:
            self._backward += arrived - begin - (self._sync_at_arrival - sync)
            self._sync += end - arrived - (self._sync - self._sync_at_arrival)
        else:
            self._backward += end - begin - (self._sync - sync)

    def optimizer_begins(self) -> None:
        """An optimizer is about to step."""
        if self.hears() and not self._optimizer_ns:
            self._optimizer_ns = perf_counter_ns()

    def optimizer_ends(self) -> None:
        """It has stepped."""
        if self._optimizer_ns:
            self._optimizer += perf_counter_ns() - self._optimizer_ns
            self._optimizer_ns = 0

    def take(self) -> tuple[int, int, int, int]:
        """Forward, backward, sync and optimizer of the step that ends here, in nanoseconds; begins anew."""
        sums = (self._forward, self._backward, self._sync, self._optimizer)
        self._forward = self._backward = self._sync = self._optimizer = 0
        self._optimizer_ns = self._sync_at_arrival = 0
        return sums
