"""A DataLoader's part of the Report; see ``schema.report`` for its units and what ``None`` means."""

from __future__ import annotations

from msgspec import Struct

from stepscope.schema.loader_rows import (  # noqa: TC001  (the JSON decoder resolves them)
    BatchPhase,
    Role,
)


class BatchTimes(Struct, frozen=True, kw_only=True):
    """What making a batch takes, as a mean over the batches that were timed where they were made.

    The first four parts sum to the time between the worker's beginning of a batch and its handing it on.

    Attributes:
        batches: How many were timed.
        compute_ms: CPU time of getting the items: reading from memory, decoding, transforming.
        wait_ms: Time of getting the items in which nothing was computed although a core was there: storage,
            network, locks.
        queued_ms: Time without a core, because too many processes want them; ``None`` where not told.
        collate_ms: Making a batch of the items, without its share of the time without a core.
        send_ms: Packing the batch for the process that trains; 0 without workers.
        handover_ms: Time in which training waited for a batch that was made already: queue, unpacking, pinning.
        pin_ms: Pinning its memory.
        items_wall_ms, items_cpu_ms: Getting the items, wall and CPU time.
        collate_wall_ms, collate_cpu_ms: Making a batch of them, likewise.
        read_bytes: Bytes read by system calls; ``None`` where not told.
        storage_bytes: Bytes from local storage, not from memory; ``None`` likewise.
        opened: Files opened by Python code; ``None`` where not counted.
    """

    batches: int
    compute_ms: float
    wait_ms: float
    queued_ms: float | None
    collate_ms: float
    send_ms: float
    handover_ms: float
    pin_ms: float
    items_wall_ms: float
    items_cpu_ms: float
    collate_wall_ms: float
    collate_cpu_ms: float
    read_bytes: float | None
    storage_bytes: float | None
    opened: float | None


class WorkerRow(Struct, frozen=True, kw_only=True):
    """One worker process number.

    Attributes:
        worker: Its number; ``None`` for the process that trains.
        batches: Batches that it made.
        batch_ms: Mean time of making one.
        cpu_frac: Share of that time in which it computed.
    """

    worker: int | None
    batches: int
    batch_ms: float
    cpu_frac: float


class FunctionRow(Struct, frozen=True, kw_only=True):
    """A function of the data set's code, by samples of the stack.

    Attributes:
        function, file, path: Foreign text; ``path`` are the data set's functions from the outermost to it.
        line: The line that most samples saw.
        phase: ``items`` or ``collate``.
        samples: How many.
        share: Of the sampled time of making batches, 0 to 1.
        cpu_frac: Share of its own time in which it computed; ``None`` where not told.
    """

    function: str
    path: tuple[str, ...]
    file: str
    line: int
    phase: BatchPhase
    samples: int
    share: float
    cpu_frac: float | None


class PlaceRow(Struct, frozen=True, kw_only=True):
    """A folder that data was read from.

    Attributes:
        folder: Foreign text.
        files: Different files that one process saw, the most of all; several together may have seen more.
        mean_bytes: Mean size of those measured; ``None`` without any.
        mount, type: Its file system; ``None`` when the report was made on another machine.
        kind: ``local``, ``network``, ``memory`` or ``unknown``; ``None`` likewise.
    """

    folder: str
    files: int
    mean_bytes: float | None
    mount: str | None = None
    type: str | None = None
    kind: str | None = None


class LoaderReport(Struct, frozen=True, kw_only=True):
    """One DataLoader of one rank, seen from inside.

    Attributes:
        rank: The rank.
        number: Counted from 0 by first use in its process.
        role: ``training``, ``evaluation``, or ``None`` when it could not be told.
        where: File and line of the loop that reads it; foreign text, ``""`` when unknown.
        dataset: Class of its data set; foreign text.
        items: Length of the data set; ``None`` when it has none.
        is_iterable: Whether the data set is iterated rather than indexed.
        workers: Worker processes that it really has.
        start_method: How they are started; ``""`` without any.
        prefetch: Batches that each prepares ahead; ``None`` without workers.
        batch_size: ``None`` when unknown.
        sampler: Class of its sampler; foreign text.
        pins: Whether batches really go to pinned memory.
        persistent: Whether workers live on between epochs.
        epochs: How often it was started.
        batches: Batches that training took.
        wait_ms: Time that training waited for them, all together.
        first_wait_ms: Of that, for the first batch of each epoch.
        times: What making a batch takes; ``None`` when no batch was timed.
        by_worker: The same by worker.
        functions: The busiest functions of the data set's code, busiest first.
        places: Folders that data was read from, most files first.
    """

    rank: int
    number: int
    role: Role | None
    where: str
    dataset: str
    items: int | None
    is_iterable: bool
    workers: int
    start_method: str
    prefetch: int | None
    batch_size: int | None
    sampler: str
    pins: bool
    persistent: bool
    epochs: int
    batches: int
    wait_ms: float
    first_wait_ms: float
    times: BatchTimes | None = None
    by_worker: tuple[WorkerRow, ...] = ()
    functions: tuple[FunctionRow, ...] = ()
    places: tuple[PlaceRow, ...] = ()
