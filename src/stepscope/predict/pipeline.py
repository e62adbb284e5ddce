"""The input pipeline: the step time for any number of loader workers and any prefetch depth.

Workers make batches while training trains, so that the slower of the two sets the pace. But the work
does not vanish: the workers take cores, caches and memory bandwidth, and every batch is handed over.
That is why four workers do not gain what the loader wait promises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepscope.predict import change
from stepscope.predict.whatif import Outcome, outcome

if TYPE_CHECKING:
    from stepscope.predict.replay import Replay
    from stepscope.predict.source import Source
    from stepscope.trace.intervals import Floats

SHARED_CORE = 2 / 1.3
"""How much longer a thread takes while another works on the same core: two threads together do 1.3 times
the work of one, which is the most that Intel states for Hyper-Threading (Marr et al., Intel Technology
Journal 6(1), 2002). Where the free cores are not known, the worst case puts a worker there."""

HANDOVER_NS_PER_BYTE = 0.1
"""Reading a batch from shared memory for the first time, about 10 GB/s: an estimate, one page fault of a
quarter of a microsecond and one copy for every 4 KiB."""

PREFETCH = 2
"""Batches that each worker prepares ahead, PyTorch's default."""

LEAST_COMPUTING = 0.05
"""A worker is taken to need a core for at least so much of its time."""

BATCHES = 256
"""Batches that the model plays through; the first half is start-up."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a number of workers gives.

    Attributes:
        workers: Number of loader workers.
        prefetch: Batches that each prepares ahead.
        best: Step time when workers cost training nothing.
        worst: Step time when they share its cores and every batch is handed over.
    """

    workers: int
    prefetch: int
    best: Outcome
    worst: Outcome


class Pipeline:
    """Predicts step times for one recorded run.

    Args:
        base: The run, replayed unchanged.
        source: How its batches are made.
    """

    def __init__(self, base: Replay, source: Source) -> None:
        self._base, self._source = base, source
        self._free = outcome(base, change.without_input(base.graph))
        self._loaded = self._with_load()

    def row(self, workers: int, prefetch: int = PREFETCH) -> Row:
        """The step time for so many workers, which must be at least 1."""
        work = np.array(self._source.work_ns, dtype=np.float64) * self._source.per_step
        best = pace(work, self._free.step_ns, workers, prefetch)
        slowed = work * self._slowdown(workers)
        worst = pace(slowed, self._loaded.step_ns, workers, prefetch)
        return Row(
            workers,
            prefetch,
            Outcome(best, self._free.spread_frac),
            Outcome(max(worst, self._cpu_bound_ns()), self._loaded.spread_frac),
        )

    def workers_needed(self) -> int:
        """The fewest workers that keep ahead of training, with a quarter in reserve.

        The arithmetic: a batch takes one worker ``work``, training takes one every ``step``, so that
        ``work / step`` workers just keep up. Never more than keep the cores busy that training leaves,
        all but one: a worker that waits for storage needs no core meanwhile.
        """
        wanted = int(np.ceil(1.25 * self._source.mean_ns / max(self._free.step_ns, 1.0)))
        if self._source.cores is None:
            return max(wanted, 1)
        ceiling = int((self._source.cores - 1) / max(self._computing, LEAST_COMPUTING))
        return max(1, min(wanted, ceiling))

    @property
    def _computing(self) -> float:
        """Share of the time of making a batch that needs a core; all of it where that is not known."""
        return 1.0 if self._source.cpu_frac is None else self._source.cpu_frac

    def _with_load(self) -> Outcome:
        """Training beside busy workers: slower while they work, and each batch is handed over."""
        graph = self._base.graph
        share = min(1.0, self._source.mean_ns / max(self._free.step_ns, 1.0))
        busy = share * self._computing
        slower = change.slower_host(change.without_input(graph), 1 + busy * (SHARED_CORE - 1))
        once = outcome(self._base, slower)
        handover = HANDOVER_NS_PER_BYTE * self._source.batch_bytes * self._source.per_step
        return Outcome(once.step_ns + handover, once.spread_frac)

    def _slowdown(self, workers: int) -> float:
        """How much longer a batch takes a worker when all of them want a core."""
        cores = self._source.cores
        if cores is None:
            return SHARED_CORE
        return max(1.0, (workers * self._computing + 1) / cores)

    def _cpu_bound_ns(self) -> float:
        """Step time when the cores are the limit; 0 when they are not known."""
        source = self._source
        if source.cores is None:
            return 0.0
        computing = source.mean_ns * self._computing
        # With the model on the CPU, training may already use every core.
        training = self._free.step_ns * (1 if len(self._base.graph.launch) else source.cores)
        return (computing + training) / source.cores


def pace(work: Floats, step: float, workers: int, prefetch: int) -> float:
    """Mean time between batches that training takes, in the long run.

    Worker ``k`` makes the batches ``k, k + workers, ...`` one after another, at most ``prefetch`` ahead
    of training, and training takes them in order: PyTorch's multiprocessing DataLoader.

    Args:
        work: Time of making each batch, repeated as often as needed.
        step: Time that training takes for one.
        workers: At least 1.
        prefetch: At least 1.
    """
    made = np.resize(work, BATCHES).tolist()
    ready, taken = [0.0] * BATCHES, [0.0] * BATCHES
    ahead = workers * prefetch
    free = 0.0
    for number, needed in enumerate(made):
        since = ready[number - workers] if number >= workers else 0.0
        asked = taken[number - ahead] if number >= ahead else 0.0
        ready[number] = max(since, asked) + needed
        taken[number] = max(free, ready[number])
        free = taken[number] + step
    half = BATCHES // 2
    return (taken[-1] - taken[half - 1]) / half
