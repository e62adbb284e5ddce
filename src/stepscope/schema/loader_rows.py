"""What the recorder writes about DataLoaders into a rank's folder, batch by batch.

::

    rank<N>/
      batches.csv        one BatchRow a line, from the process that made the batch
      deliveries.csv     one Delivery a line, from the process that trains
      functions.jsonl    one BusyFunction a line: what was added since the line before
      places.jsonl       one DataPlace a line, likewise
      worker_memory.jsonl   one WorkerMemory a line

Several processes append to these files, each with one write of whole lines. Clocks are that of
``time.perf_counter_ns``, which the processes of one machine share on Linux.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

BATCHES_NAME = "batches.csv"
DELIVERIES_NAME = "deliveries.csv"
FUNCTIONS_NAME = "functions.jsonl"
PLACES_NAME = "places.jsonl"
MEMORY_NAME = "worker_memory.jsonl"

Role = Literal["training", "evaluation"]
BatchPhase = Literal["items", "collate"]


@dataclass(frozen=True, slots=True)
class BatchRow:
    """The making of a batch, or of several when ``count`` is above 1: all times and sizes are summed then.

    Attributes:
        loader: Number of the loader in its process, counted from 0 by first use.
        worker: Number of the worker; -1 for the process that trains.
        pid: The process.
        batch: PyTorch's number of the batch in its epoch, with workers; else -1.
        start_ns: When its making began.
        items_ns, items_cpu_ns: Getting the items from the data set: wall and CPU time of the thread.
        collate_ns, collate_cpu_ns: Making a batch of them.
        send_ns, send_cpu_ns: Packing it for the process that trains, in the worker's sending thread.
        read_bytes: Bytes read by system calls of the process, page cache or not; -1 where the system does not tell.
        storage_bytes: Bytes that came from storage (not from a network file system); -1 likewise.
        opened: Files opened by Python code, in workers; -1 where not counted.
        queued_ns: Time in which the thread could have worked on items or collation but had no core; -1 where
            the system does not tell.
        count: How many batches share the line.
    """

    loader: int
    worker: int
    pid: int
    batch: int
    start_ns: int
    items_ns: int
    items_cpu_ns: int
    collate_ns: int
    collate_cpu_ns: int
    send_ns: int
    send_cpu_ns: int
    read_bytes: int
    storage_bytes: int
    opened: int
    queued_ns: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Delivery:
    """The handing over of a batch to training.

    Attributes:
        loader: Number of the loader.
        batch: PyTorch's number of the batch in its epoch, with workers; else -1.
        asked_ns: When training asked for it.
        delivered_ns: When training had it.
        pin_ns: Time of pinning memory since the delivery before, in whichever thread.
    """

    loader: int
    batch: int
    asked_ns: int
    delivered_ns: int
    pin_ns: int


@dataclass(frozen=True, slots=True)
class BusyFunction:
    """What samples of the stack say about a function of the data set's code.

    Attributes:
        loader, worker: As in BatchRow.
        phase: Whether it works for items or for collation.
        function: Its qualified name; foreign text.
        file: Its file; foreign text.
        line: The line that most samples of this document saw.
        path: How most of these samples came there: the data set's functions from the outermost one.
        inner: The innermost Python function in most of these samples; foreign text.
        samples: How many.
        wall_ns: Time that they stand for.
        cpu_ns: Of that, time in which the thread computed; ``None`` where the system does not tell.
    """

    loader: int
    worker: int
    phase: BatchPhase
    function: str
    file: str
    line: int
    path: tuple[str, ...]
    inner: str
    samples: int
    wall_ns: int
    cpu_ns: int | None


@dataclass(frozen=True, slots=True)
class DataPlace:
    """Files of one folder that were seen open while batches were made.

    Attributes:
        loader, worker: As in BatchRow.
        folder: Foreign text.
        files: Different files, as far as they were told apart.
        sizes_of: How many of them were measured.
        total_bytes: Summed size of those.
        names: Some of them, without the folder; foreign text.
    """

    loader: int
    worker: int
    folder: str
    files: int
    sizes_of: int
    total_bytes: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerMemory:
    """What a worker held for itself at some moment.

    Attributes:
        loader, worker: As in BatchRow.
        own_bytes: Memory that it shared with no other process: what one more worker would take.
    """

    loader: int
    worker: int
    own_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderUse:
    """A DataLoader with the settings that it really has.

    Attributes:
        number: Counted from 0 by first use.
        role: What it feeds; ``None`` while that is not known.
        where: File and line of the loop that reads it; ``""`` when unknown. Foreign text.
        dataset: Class of its data set; foreign text.
        items: Length of the data set; ``None`` when it has none.
        is_iterable: Whether the data set is iterated rather than indexed.
        workers: Worker processes; 0 when batches are made in the process that trains.
        start_method: How workers are started; ``""`` without any.
        prefetch: Batches that each worker prepares ahead; ``None`` without workers.
        batch_size: ``None`` when the loader does not batch, or by a sampler of the user's.
        sampler: Class of its sampler; foreign text.
        pins: Whether batches really go to pinned memory.
        persistent: Whether workers live on between epochs.
        epochs: How often it was started.
        batches: Batches that training took.
        wait_ns: Time that training waited for them.
        first_wait_ns: Of that, waiting for the first batch of each epoch.
    """

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
    wait_ns: int
    first_wait_ns: int


@dataclass(frozen=True, slots=True)
class LoaderRecords:
    """All that a rank's folder holds about its loaders."""

    batches: tuple[BatchRow, ...]
    deliveries: tuple[Delivery, ...]
    functions: tuple[BusyFunction, ...]
    places: tuple[DataPlace, ...]
    memory: tuple[WorkerMemory, ...] = ()


def csv_line(row: BatchRow | Delivery) -> str:
    """A row of numbers as a line of its file, with its line end."""
    return numbers_line(tuple(getattr(row, name) for name in row.__slots__))


def numbers_line(numbers: tuple[int, ...]) -> str:
    """The same of the row's fields in their order, as a recorder in a hurry keeps them."""
    return ",".join(map(str, numbers)) + "\n"


def json_line(document: BusyFunction | DataPlace | WorkerMemory) -> str:
    """A document as a line of its file, with its line end."""
    return json.dumps(asdict(document), separators=(",", ":")) + "\n"


def load_records(folder: Path) -> LoaderRecords:
    """What a rank's folder holds about loaders; lines that are not whole are left out."""
    return LoaderRecords(
        batches=_rows(folder / BATCHES_NAME, BatchRow),
        deliveries=_rows(folder / DELIVERIES_NAME, Delivery),
        functions=_documents(folder / FUNCTIONS_NAME, BusyFunction),
        places=_documents(folder / PLACES_NAME, DataPlace),
        memory=_documents(folder / MEMORY_NAME, WorkerMemory),
    )


_Row = TypeVar("_Row", BatchRow, Delivery)
_Document = TypeVar("_Document", BusyFunction, DataPlace, WorkerMemory)


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]


def _rows(path: Path, kind: type[_Row]) -> tuple[_Row, ...]:
    width = len(kind.__dataclass_fields__)
    rows = [line.split(",") for line in _lines(path)]
    return tuple(
        kind(*map(int, fields))
        for fields in rows
        if len(fields) == width and all(re.fullmatch(r"-?\d+", field) for field in fields)
    )


def _documents(path: Path, kind: type[_Document]) -> tuple[_Document, ...]:
    # msgspec is only needed by readers; the recorder must not import it into the training process.
    import msgspec  # noqa: PLC0415

    found = []
    for line in _lines(path):
        try:
            found.append(msgspec.json.decode(line, type=kind))
        except msgspec.MsgspecError:
            continue
    return tuple(found)
