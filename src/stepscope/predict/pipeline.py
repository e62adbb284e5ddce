"""The input pipeline: the step time for any number of loader workers and any prefetch depth.

Workers make batches while training trains, so that the slower of the two sets the pace. But the work
does not vanish: the workers take cores, caches and memory bandwidth, and every batch is handed over.
That is why four workers do not gain what the loader wait promises.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.predict import change
from stepscope.predict.graph import INPUT
from stepscope.predict.own_work import in_steps, warm
from stepscope.predict.period import step_ns
from stepscope.predict.whatif import Outcome, outcome

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
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

HANDOVER_NS = 300_000, 2_400_000
"""What taking a batch that is ready from a worker costs the training thread, least and most: the next batch is asked
for, and for each tensor the worker is asked for its memory. Seen with PyTorch 2.13 on two cores: 0.3 ms of computing at
least, 2.4 ms in the median for two tensors when the worker had to be woken; with four workers on a V100 node, 1.4 ms."""

PREFETCH = 2
"""Batches that each worker prepares ahead, PyTorch's default."""

LEAST_COMPUTING = 0.05
"""A worker is taken to need a core for at least so much of its time."""

BATCHES = 256
"""Batches that the model plays through; the first half is start-up."""

MOST_EPOCH = 512
"""In longer epochs their beginning weighs less than anything else that is not known."""

START_NS, START_EACH_NS = 40_000_000, 15_000_000
"""Ending and starting workers that do not live on between epochs: by fork, tens of milliseconds and more for each
worker were seen; twice as much on a busy machine."""

MOST_OFF = 1.5
"""A model that is off by more for the workers which the run has is not set right by a factor."""

MOST_WORKERS = 64
"""More workers than that are never recommended."""

SHARED_SHARE = 0.5
"""Of the free shared memory, batches are to take no more than this."""

NEAR = 1.03
"""More workers that make the step shorter by less than this are not worth their memory."""

RESERVE = 1.25
"""Workers are to keep ahead of training with a quarter in reserve."""

LEAST_QUEUED = 0.05
"""Less time without a core than this is the usual coming and going on a machine."""


class Row(Struct, frozen=True):
    """What a number of workers gives.

    Attributes:
        workers: Number of loader workers.
        prefetch: Batches that each prepares ahead.
        best: Step time when workers take nothing from training, batches are handed over quickly, and steps find their
            data in the caches because they wait no more.
        worst: Step time when they share its cores, every batch takes long to be handed over, and workers start anew
            with each epoch.
    """

    workers: int
    prefetch: int
    best: Outcome
    worst: Outcome

    @property
    def middle_ns(self) -> float:
        """The step time between the two."""
        return math.sqrt(self.best.step_ns * self.worst.step_ns)


class Plan(Struct, frozen=True):
    """The arithmetic behind a number of workers; times are those of one step.

    Attributes:
        workers: The number.
        making_ns: Time that one process takes to make what a step takes.
        training_ns: Time of a step that never waits for it.
        keep_up: Workers that would keep ahead of training if there were cores for all.
        cores: Cores that workers and training share; ``None`` when not known.
        computing_frac: Share of the making that needs a core; ``None`` when not known.
        cores_ns: The shortest step that the cores allow; ``None`` like ``cores``.
        fit: Workers whose prefetched batches fit into shared memory; ``None`` where one of the two is not known.
        room: Workers that the memory of the allocation holds; ``None`` where it is not known what one takes.
        each_bytes, left_bytes: Memory that one worker takes with its batches, and what was left of the allocation's.
    """

    workers: int
    making_ns: float
    training_ns: float
    keep_up: int
    cores: int | None
    computing_frac: float | None
    cores_ns: float | None
    fit: int | None = None
    room: int | None = None
    each_bytes: int | None = None
    left_bytes: int | None = None


class Pipeline:
    """Predicts step times for one recorded run.

    Args:
        base: The run, replayed unchanged.
        source: How its batches are made.
        spread_frac: Uncertainty of the mean step, where the recorder timed many steps; else the replay tells.
    """

    def __init__(self, base: Replay, source: Source, spread_frac: float | None = None) -> None:
        self._base, self._source = base, source
        free = outcome(base, change.without_input(base.graph))
        self._free = free if spread_frac is None else Outcome(free.step_ns, spread_frac)
        self._quick = outcome(base, self._handed(HANDOVER_NS[0], is_warm=True))
        self._loaded = self._with_load()

    def row(self, workers: int, prefetch: int = PREFETCH, *, restarts: bool = False) -> Row:
        """The mean step time for so many workers, which must be at least 1.

        Workers may live on between epochs, unless ``restarts`` says that they surely do not. Where the run has workers, what the model gives for their number is held against the measured step,
        and all of it scaled to agree.
        """
        made = self._row(workers, prefetch, self._others, restarts=restarts)
        have = self._source.workers
        if not have:
            return made
        now = step_ns(self._base.graph, self._base.times)
        off = now / max(self.modelled(have, prefetch).middle_ns, 1.0)
        if not 1 / MOST_OFF <= off <= MOST_OFF:
            return made
        best = max(made.best.step_ns * off, min(self._quick.step_ns, now))
        worst = max(made.worst.step_ns * off, best)
        spread = self._free.spread_frac
        return Row(workers, prefetch, Outcome(best, spread), Outcome(worst, spread))

    def modelled(self, workers: int, prefetch: int = PREFETCH) -> Row:
        """What the model gives without being held against what was measured."""
        return self._row(workers, prefetch, self._others)

    def _row(self, workers: int, prefetch: int, others: float, *, restarts: bool = False) -> Row:
        """What the model gives beside so many threads of other programs."""
        source, free, loaded = self._source, self._quick.step_ns, self._loaded.step_ns
        work = np.array(source.work_ns, dtype=np.float64) * source.per_step
        epoch = source.epoch_batches
        start = START_NS + START_EACH_NS * workers
        least, most = (start, 2 * start) if restarts else (0, start)
        best = pace(work, free, workers, prefetch, epoch, least)
        best = max(best, self._computing_ns(free, 1.0) / self._share(workers, 1.0, others))
        slowed = work * self._slowdown(workers, others)
        worst = pace(slowed, loaded, workers, prefetch, epoch, most)
        share = self._share(workers, self._threads, others)
        if others and not source.workers:
            # A group of processes may get no more than one process got before.
            share = min(share, 1 - source.queued_frac)
        worst = max(worst, best, self._computing_ns(loaded, self._threads) / share)
        worst = max(worst, source.storage_ns * source.per_step)
        spread = self._free.spread_frac
        return Row(workers, prefetch, Outcome(best, spread), Outcome(worst, spread))

    def plan(self) -> Plan:
        """The fewest workers that make the step about as short as any number would.

        A batch takes one worker ``making``, training takes one every ``training``, so that their ratio just
        keeps up; a quarter is held in reserve. Where the cores are known, the model tells when more workers
        only take turns on them: a worker that waits for storage needs no core meanwhile.
        """
        source, free = self._source, max(self._free.step_ns, 1.0)
        wanted = max(math.ceil(RESERVE * source.mean_ns / free), 1)
        fit, room = self._fit(), self._room()
        best = min(wanted, MOST_WORKERS, fit or MOST_WORKERS, room or MOST_WORKERS)
        if source.cores is not None:
            # Against other programs more workers always win a larger share, which is no reason to want them.
            rows = [self._row(workers, PREFETCH, 0.0) for workers in range(1, best + 1)]
            shortest = min(row.middle_ns for row in rows)
            best = next(row.workers for row in rows if row.middle_ns <= NEAR * shortest)
        return Plan(
            workers=best,
            making_ns=source.mean_ns,
            training_ns=free,
            keep_up=wanted,
            cores=source.cores,
            computing_frac=source.cpu_frac,
            cores_ns=None if source.cores is None else self._computing_ns(free, 1.0),
            fit=fit,
            room=room,
            each_bytes=None if room is None else self._each_bytes,
            left_bytes=None if room is None else source.left_bytes,
        )

    def _fit(self) -> int | None:
        """Workers whose batches fit into shared memory, at least one; half of it is left to others."""
        source = self._source
        if source.shared_bytes is None or not source.batch_bytes:
            return None
        return max(int(SHARED_SHARE * source.shared_bytes / self._ahead_bytes), 1)

    def _room(self) -> int | None:
        """Workers whose memory the allocation holds: those that the run has, and as many as fit into what is left."""
        source = self._source
        if source.worker_bytes is None or source.left_bytes is None or not source.workers:
            return None
        return source.workers + max(source.left_bytes, 0) // max(self._each_bytes, 1)

    @property
    def _ahead_bytes(self) -> int:
        """Batches of a worker: beside those made ahead, it has one in the making."""
        return (PREFETCH + 1) * self._source.batch_bytes

    @property
    def _each_bytes(self) -> int:
        """Memory that one more worker takes."""
        return (self._source.worker_bytes or 0) + self._ahead_bytes

    @property
    def _computing(self) -> float:
        """Share of the time of making a batch that needs a core; all of it where that is not known."""
        return 1.0 if self._source.cpu_frac is None else self._source.cpu_frac

    @property
    def _threads(self) -> float:
        """Cores that training may take at a time: one for a GPU's host, else its operators' threads."""
        source = self._source
        if len(self._base.graph.launch) or source.cores is None:
            return 1.0
        return float(min(source.threads or source.cores, source.cores))

    @property
    def _others(self) -> float:
        """Threads of other programs that want the cores, from how long making batches had none.

        A scheduler gives each of ``n`` threads an equal share of the cores.
        """
        source = self._source
        if source.cores is None or source.queued_frac < LEAST_QUEUED:
            return 0.0
        wanted = source.cores / (1 - min(source.queued_frac, 0.95))
        own = 1.0 if not source.workers else source.workers * self._computing + 1.0
        return max(wanted - own, 0.0)

    def _with_load(self) -> Outcome:
        """Training beside busy workers: slower while they work, and each batch is handed over."""
        share = min(1.0, self._source.mean_ns / max(self._free.step_ns, 1.0))
        busy = share * self._computing
        handed = self._handed(HANDOVER_NS[1])
        once = outcome(self._base, change.slower_host(handed, 1 + busy * (SHARED_CORE - 1)))
        read = HANDOVER_NS_PER_BYTE * self._source.batch_bytes * self._source.per_step
        return Outcome(once.step_ns + read, once.spread_frac)

    def _handed(self, handover_ns: int, *, is_warm: bool = False) -> Graph:
        """Training of batches that are ready, and of which each takes so long to be handed over.

        Args:
            handover_ns: Time of the training thread.
            is_warm: Whether a step finds in the caches what the wait for its batch used to drive out.
        """
        graph = self._base.graph
        waits = in_steps(graph, INPUT)
        most = float(waits.mean()) if len(waits) else 0.0
        if self._source.workers and most <= HANDOVER_NS[1] * self._source.per_step:
            # Workers keep up, and what is waited for is the hand-over itself: it stays with more of them.
            return graph
        # Nobody gains by a hand-over that takes longer than the wait.
        handed = change.with_input(graph, min(handover_ns * self._source.per_step, most))
        return warm(handed, waits) if is_warm else handed

    def _slowdown(self, workers: int, others: float) -> float:
        """How much longer a batch takes a worker when all of them and other programs want a core."""
        cores = self._source.cores
        if cores is None:
            return SHARED_CORE
        return max(1.0, (workers * self._computing + others) / cores)

    def _computing_ns(self, training_ns: float, threads: float) -> float:
        """Mean step time when the cores are the limit and all ours; 0 when they are not known.

        Args:
            training_ns: Time of a step that never waits.
            threads: Cores that training takes meanwhile.
        """
        source = self._source
        if source.cores is None:
            return 0.0
        return (source.mean_ns * self._computing + training_ns * threads) / source.cores

    def _share(self, workers: int, threads: float, others: float) -> float:
        """Share of the cores that so many workers and training get beside threads of other programs."""
        own = workers * self._computing + threads
        return own / (own + others)


def pace(
    work: Floats,
    step: float,
    workers: int,
    prefetch: int,
    epoch: int | None = None,
    start: float = 0.0,
) -> float:
    """Mean time between batches that training takes, in the long run.

    Worker ``k`` makes the batches ``k, k + workers, ...`` one after another, at most ``prefetch`` ahead
    of training, and training takes them in order: PyTorch's multiprocessing DataLoader. At the beginning
    of an epoch nothing is made ahead.

    Args:
        work: Time of making each batch, repeated as often as needed.
        step: Time that training takes for one.
        workers: At least 1.
        prefetch: At least 1.
        epoch: Batches of an epoch; ``None`` for one without an end.
        start: Time from the beginning of an epoch until workers begin.
    """
    if epoch is not None and epoch > MOST_EPOCH:
        epoch = None
    half = BATCHES // 2 if epoch is None else max(BATCHES // 2 // epoch, 1) * epoch
    made = np.resize(work, 2 * half).tolist()
    ready, taken = [0.0] * len(made), [0.0] * len(made)
    ahead = workers * prefetch
    free = begun = 0.0
    for number, needed in enumerate(made):
        if epoch is not None and number % epoch == 0:
            begun = free + start
        since = ready[number - workers] if number >= workers else 0.0
        asked = taken[number - ahead] if number >= ahead else 0.0
        ready[number] = max(since, asked, begun) + needed
        taken[number] = max(free, ready[number])
        free = taken[number] + step
    return (taken[-1] - taken[half - 1]) / half
