"""Adds up what stepscope itself takes in the process that trains."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.record.guard import Guard

CALLS_A_STEP, CALLS_A_BATCH = 2, 5
"""Functions of the recorder that stand around each optimizer step and each batch, and are too short to be timed."""

ROUNDS, CALLS = 5, 100


class OwnCost:
    """The recorder's own time, timed inside its functions and estimated for the calls of them.

    Attributes:
        ns: What was timed.
    """

    def __init__(self) -> None:
        self.ns = 0
        self._call_ns = 0.0

    def calibrate(self, guard: Guard) -> None:
        """Find out what the call of a function behind the guard takes here; some 100 microseconds."""

        def nothing(_: object) -> None:
            pass

        guarded = guard.wrap(nothing)
        rounds = []
        for _ in range(ROUNDS):
            begin = perf_counter_ns()
            for _ in range(CALLS):
                guarded(None)
            rounds.append((perf_counter_ns() - begin) / CALLS)
        self._call_ns = min(rounds)

    def total_ns(self, *, steps: int, batches: int, others_ns: int) -> int:
        """All of it so far.

        Args:
            steps: Steps so far.
            batches: Batches so far.
            others_ns: What samplers and the timing of batches have taken, by their own count.
        """
        calls = CALLS_A_STEP * steps + CALLS_A_BATCH * batches
        return self.ns + others_ns + int(calls * self._call_ns)
