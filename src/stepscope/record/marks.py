"""Where a step's time goes, by marks of the training thread: no profiler, a few sums."""

from __future__ import annotations

from time import perf_counter_ns


class Marks:
    """Sums of the present step's parts; see ``schema.light.PARTS`` for what they are.

    Every step pays for each call, so the hooks set attributes instead of calling where they can.

    Attributes:
        thread: The thread that trains; ``None`` while that is not known, so that all are heard.
        is_paused: Whether something else than training runs, so that nothing counts.
        sync: Waiting so far in this step.
        arrived_ns: When the last gradient of the backward pass was there.
        last: Which parameter's it was.
        optimizer_ns: When the optimizer that steps now began; 0 while none does.
    """

    __slots__ = (
        "_backward",
        "_forward",
        "_optimizer",
        "_sync_at_arrival",
        "arrived_ns",
        "is_paused",
        "last",
        "optimizer_ns",
        "sync",
        "thread",
    )

    def __init__(self) -> None:
        self.thread: int | None = None
        self.is_paused = False
        self.sync = 0
        self.arrived_ns = self.last = self.optimizer_ns = 0
        self._sync_at_arrival = 0
        self._forward = self._backward = self._optimizer = 0

    def waited(self, begin: int, _sync: int) -> None:
        """A collective that began then has returned."""
        self.sync += perf_counter_ns() - begin

    def passed_forward(self, begin: int, sync: int) -> None:
        """A forward pass has ended; ``sync`` is what :attr:`sync` was when it began."""
        self._forward += perf_counter_ns() - begin - (self.sync - sync)

    def arrives(self, parameter: object) -> None:
        """A gradient is there; called in whichever thread computes it."""
        self.arrived_ns = perf_counter_ns()
        self.last = id(parameter)
        self._sync_at_arrival = self.sync

    def passed_backward(self, begin: int, sync: int) -> None:
        """A backward pass has ended; what follows its last gradient is waiting for the other ranks."""
        end, arrived = perf_counter_ns(), self.arrived_ns
        if arrived > begin:
            self._backward += arrived - begin - (self._sync_at_arrival - sync)
            # What was waited for in calls after the arrival is in this too, once.
            self.sync = self._sync_at_arrival + end - arrived
        else:
            self._backward += end - begin - (self.sync - sync)

    def optimizer_ends(self) -> None:
        """An optimizer has stepped."""
        self._optimizer += perf_counter_ns() - self.optimizer_ns
        self.optimizer_ns = 0

    def take(self, now: int = 0) -> tuple[int, int, int, int]:
        """Forward, backward, sync and optimizer of the step that ends here, in nanoseconds; begins anew.

        Args:
            now: When the optimizer that ends the step has stepped; 0 where that was told before.
        """
        if now and self.optimizer_ns:
            self._optimizer += now - self.optimizer_ns
        sums = (self._forward, self._backward, self.sync, self._optimizer)
        self._forward = self._backward = self.sync = self._optimizer = 0
        self.optimizer_ns = self._sync_at_arrival = 0
        return sums
