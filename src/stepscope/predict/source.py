"""How batches are made: from the recorder where it measured it, else from what the trace shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.predict.graph import TO_DEVICE
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.loader_names import SINGLE_PROCESS
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.model import Trace


MOST_CACHED = 0.1
"""With more files than this in memory, a read says nothing of the disk."""

LEAST_WAITING = 0.1
"""Where making a batch waits less than this share of its time, its files mostly come from memory."""

GROUP = 4
"""So many neighbouring steps count as one when the spread of the mean is asked for."""

LEAST_GROUPS = 3
"""Of fewer steps groups are smaller, so that there are as many as this."""


class Staging(Struct, frozen=True, kw_only=True):
    """A short measured read of the data set's files where they lie, and of copies on another file system.

    Attributes:
        source, target: Folders; foreign text.
        source_ns, target_ns: Mean time of a file with one reader.
        source_many_ns, target_many_ns: Time between the ends of two files with several readers at a time.
        readers: How many these were.
        mean_bytes: Mean size of a file.
        source_cached_frac: Share of the files that the kernel kept in memory although it was asked to forget
            them, so that their read was no read from the disk.
        copy_bytes_per_s: How fast files were copied.
    """

    source: str
    target: str
    source_ns: float
    target_ns: float
    source_many_ns: float
    target_many_ns: float
    readers: int
    mean_bytes: float
    source_cached_frac: float
    copy_bytes_per_s: float

    @property
    def ratios(self) -> tuple[float, float]:
        """Time on the other file system over time where files lie: the smaller and the larger, at most 1."""
        both = (self.target_ns / self.source_ns, self.target_many_ns / self.source_many_ns)
        return min(1.0, *both), min(1.0, max(both))


class Setting(Struct, frozen=True, kw_only=True):
    """What a recorder knows and a foreign trace does not; ``None`` where it is not known.

    Attributes:
        work_ns: Time that making each batch took one process, in order.
        cpu_frac: Share of that time in which it computed rather than waited for storage.
        queued_frac: Share of the time of making batches, spent besides ``work_ns``, in which the process
            could have worked but had no core.
        cores: Cores that workers and training share.
        threads: Threads of an operator on the CPU.
        shared_bytes: Free shared memory (/dev/shm), through which workers hand batches over.
        worker_bytes: Memory that one worker holds for itself; ``None`` where that was not measured.
        left_bytes: Memory that the allocation had left for this rank when most was in use; ``None`` likewise.
        workers: Loader workers that the run has.
        epoch_batches: Batches of an epoch.
        restarts: Whether workers end with each epoch.
        first_wait_ns: Waiting for the first batch of an epoch in the mean, where workers end with each.
        per_step: Batches that a step takes in the mean.
        opened: Files that a batch opens; ``None`` where that was not counted.
        clean_step_ns: Median step without a profiler.
        staging: What reading the files on another file system takes; ``None`` where it was not measured.
        clean: Steps without a profiler, one after another, and how long each waited for its batch.
    """

    work_ns: tuple[int, ...] | None = None
    cpu_frac: float | None = None
    queued_frac: float | None = None
    cores: int | None = None
    threads: int | None = None
    shared_bytes: int | None = None
    worker_bytes: int | None = None
    left_bytes: int | None = None
    workers: int | None = None
    epoch_batches: int | None = None
    restarts: bool = False
    first_wait_ns: float | None = None
    per_step: float | None = None
    opened: float | None = None
    clean_step_ns: float | None = None
    staging: Staging | None = None
    clean: CleanSteps | None = None


class CleanSteps(Struct, frozen=True, kw_only=True):
    """Steps that ran without a profiler: what a run really gets done in its time.

    Batches of several workers arrive in bunches, so that the median step says little: one in two or more is
    fast because its batch was there, and the next waits for both. What counts is the mean.

    Attributes:
        lengths_ns: Length of each, in order; not empty.
        waits_ns: How long each waited for its batch, shape as ``lengths_ns``.
    """

    lengths_ns: tuple[int, ...]
    waits_ns: tuple[int, ...]

    @property
    def mean_ns(self) -> float:
        """Mean step."""
        return float(np.mean(self.lengths_ns))

    @property
    def wait_ns(self) -> float:
        """Mean wait."""
        return float(np.mean(self.waits_ns))

    @property
    def error_frac(self) -> float:
        """Standard error of the mean step, relative, from groups of neighbours, which share a bunch."""
        lengths = np.array(self.lengths_ns, dtype=np.float64)
        size = min(GROUP, len(lengths) // LEAST_GROUPS)
        if not size:
            return 0.0
        groups = len(lengths) // size
        means = lengths[: groups * size].reshape(groups, size).mean(axis=1)
        return float(means.std(ddof=1) / np.sqrt(groups) / means.mean())


class Source(Struct, frozen=True, kw_only=True):
    """How batches are made.

    Attributes:
        work_ns: Time that making each batch takes one process, in order.
        per_step: Batches that a step takes.
        cpu_frac: Share of that time in which it computes rather than waits for storage; ``None`` when unknown.
        queued_frac: Share of the time of making batches without a core, which ``work_ns`` leaves out.
        cores: Cores that workers and training share; ``None`` when unknown.
        threads: Threads of an operator on the CPU; ``None`` when unknown.
        shared_bytes: Free shared memory; ``None`` when unknown.
        worker_bytes: Memory that one worker holds for itself; ``None`` when unknown.
        left_bytes: Memory that the allocation had left for more of them; ``None`` when unknown.
        workers: Workers that the run has; 0 when batches are made in the training process.
        epoch_batches: Batches of an epoch; ``None`` when unknown or too many to matter.
        batch_bytes: Size of a batch; 0 when unknown.
        storage_ns: Time between two batches when reading their files is all that limits, with several readers
            at a time; 0 when unknown.
    """

    work_ns: tuple[int, ...]
    per_step: float = 1.0
    cpu_frac: float | None = None
    queued_frac: float = 0.0
    cores: int | None = None
    threads: int | None = None
    shared_bytes: int | None = None
    worker_bytes: int | None = None
    left_bytes: int | None = None
    workers: int = 0
    epoch_batches: int | None = None
    batch_bytes: int = 0
    storage_ns: float = 0.0

    @property
    def mean_ns(self) -> float:
        """Mean time of making what one step takes."""
        return float(np.mean(self.work_ns)) * self.per_step


def source_of(trace: Trace, graph: Graph, setting: Setting) -> Source | None:
    """How the batches of the steady steps are made; ``None`` when nothing tells it.

    Without workers the wait for a batch is the work that it takes. With workers the trace shows only
    what they failed to hide.
    """
    scope = scope_of(trace)
    steady = scope.bounds[scope.is_steady]
    names = call_names.loader_waits(trace.host)
    waits = iv.intersect(iv.of(trace.host.filter(names)), iv.union(steady))
    if not scope.are_steps or not len(waits) or not len(steady):
        return None
    work = setting.work_ns
    if work is None:
        told = trace.host.filter(names).get_column("name").cast(pl.String)
        if not told.str.contains(SINGLE_PROCESS, literal=True).all():
            return None
        work = tuple((waits[:, 1] - waits[:, 0]).tolist())
    # In a trace, the wait at whose end an epoch is over looks like one for a batch.
    per_step = setting.per_step or len(waits) / len(steady)
    return Source(
        work_ns=work,
        per_step=per_step,
        cpu_frac=setting.cpu_frac,
        queued_frac=setting.queued_frac or 0.0,
        cores=setting.cores,
        threads=setting.threads,
        shared_bytes=setting.shared_bytes,
        worker_bytes=setting.worker_bytes,
        left_bytes=setting.left_bytes,
        workers=setting.workers or 0,
        epoch_batches=setting.epoch_batches,
        storage_ns=_storage_ns(setting),
        batch_bytes=int(_bytes_to_device(trace, graph) / per_step),
    )


def _storage_ns(setting: Setting) -> float:
    """Reads that the file system answered from memory set no limit."""
    staging, opened = setting.staging, setting.opened
    if staging is None or opened is None or staging.source_cached_frac > MOST_CACHED:
        return 0.0
    # What did not wait for storage during the run did not go there.
    waits = 0.0 if setting.cpu_frac is None else 1 - setting.cpu_frac
    return opened * staging.source_many_ns if waits > LEAST_WAITING else 0.0


def _bytes_to_device(trace: Trace, graph: Graph) -> float:
    """Bytes copied to the device per steady step."""
    sizes = trace.device.get_column("bytes").fill_null(0).to_numpy()
    steady = np.flatnonzero(graph.is_steady)
    inside = (graph.sort == TO_DEVICE) & np.isin(graph.step_of_work, steady)
    return float(sizes[graph.table_row[inside]].sum()) / max(len(steady), 1)
