"""What the recorder saw of DataLoaders from inside, put together for the report and for predictions."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from stepscope.predict import CleanSteps, Setting
from stepscope.schema.loader import (
    BatchTimes,
    FunctionRow,
    LoaderReport,
    PlaceRow,
    WorkerRow,
)
from stepscope.schema.loader_rows import load_records
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from stepscope.schema.loader_rows import (
        BatchRow,
        BusyFunction,
        DataPlace,
        Delivery,
        LoaderRecords,
        LoaderUse,
    )
    from stepscope.schema.run_folder import RankFolder, StepRow

MOST_FUNCTIONS, MOST_PLACES = 10, 10
"""So many rows of each kind are kept."""

BY_TURNS = 1.2
"""Loaders that give more batches than this a step are not read one after another."""

MOST_CLEAN = 1024
"""So many steps without the profiler tell how long one takes in the mean."""

MOST_WORK = 512
"""So many batches are enough for the model of the input pipeline."""


def loader_reports(
    folder: RankFolder, place_of: Callable[[PlaceRow], PlaceRow]
) -> tuple[LoaderReport, ...]:
    """The loaders of one rank, in order of first use.

    Args:
        folder: The rank's folder.
        place_of: Fills in the file system of a folder, where it can be known.
    """
    if folder.recording is None or not folder.recording.loaders:
        return ()
    records = load_records(folder.path)
    return tuple(_report(folder.rank, use, records, place_of) for use in folder.recording.loaders)


def setting_of(folder: RankFolder) -> Setting:
    """What the recorder of one rank knows for predictions; batches are those of the loader that feeds training."""
    recording = folder.recording
    if recording is None:
        return Setting()
    setting = Setting(
        clean_step_ns=recording.clean_step_ns,
        clean=_clean(folder.steps),
        cores=recording.cores,
        threads=recording.threads,
    )
    feeding = [use for use in recording.loaders if use.role == "training"]
    use = _as_one(feeding, recording.steps_seen)
    if use is None:
        return setting
    numbers = {one.number for one in feeding}
    records = load_records(folder.path)
    rows = [row for row in records.batches if row.loader in numbers]
    single = [row for row in rows if row.count == 1][-MOST_WORK:]
    if not single:
        return setting
    # Time without a core is not work: how much of it there is depends on how many want the cores.
    making = sum(_making_ns(row) for row in single)
    queued = sum(max(row.queued_ns, 0) for row in single)
    work = [_making_ns(row) + row.send_ns - max(row.queued_ns, 0) for row in single]
    computing = sum(row.items_cpu_ns + row.collate_cpu_ns + row.send_cpu_ns for row in single)
    return replace(
        setting,
        work_ns=tuple(max(ns, 1) for ns in work),
        cpu_frac=min(1.0, computing / sum(work)) if sum(work) > 0 else None,
        queued_frac=queued / making if making and single[0].queued_ns >= 0 else None,
        workers=use.workers,
        epoch_batches=epoch_batches(use),
        restarts=not use.persistent,
        first_wait_ns=None if use.persistent else use.first_wait_ns / max(use.epochs, 1),
        opened=_opened(single),
        worker_bytes=_worker_bytes(records, numbers),
        per_step=_per_step(use.batches, recording.steps_seen),
    )


def _per_step(batches: int, steps: int) -> float | None:
    """Batches that a step takes; a whole number where counts differ from it only by a step that was begun."""
    if not steps:
        return None
    whole = round(batches / steps)
    begun = batches - whole * steps
    return float(whole) if whole and 0 <= begun <= whole + 1 else batches / steps


def _as_one(uses: Sequence[LoaderUse], steps: int) -> LoaderUse | None:
    """Loaders that one line of the script makes anew for each epoch, as the one that they are.

    With several different loaders, or several that a step reads, it is not known which batch of which a step
    takes: ``None``.
    """
    kinds = {(one.where, one.dataset, one.workers, one.batch_size) for one in uses}
    batches = sum(one.batches for one in uses)
    if len(kinds) != 1 or (len(uses) > 1 and batches > BY_TURNS * steps):
        return None
    return dataclasses.replace(
        uses[0],
        epochs=sum(one.epochs for one in uses),
        batches=batches,
        wait_ns=sum(one.wait_ns for one in uses),
        first_wait_ns=sum(one.first_wait_ns for one in uses),
    )


def _clean(steps: Sequence[StepRow]) -> CleanSteps | None:
    """Single steps that ran without a profiler."""
    kept = [row for row in steps if row.kind in ("clean", "later") and row.count == 1][:MOST_CLEAN]
    if not kept:
        return None
    return CleanSteps(
        lengths_ns=tuple(row.duration_ns for row in kept),
        waits_ns=tuple(row.loader_wait_ns for row in kept),
    )


def _worker_bytes(records: LoaderRecords, numbers: set[int]) -> int | None:
    """The most that a worker was seen to hold for itself."""
    known = [row.own_bytes for row in records.memory if row.loader in numbers]
    return max(known, default=None)


def _opened(rows: Sequence[BatchRow]) -> float | None:
    """Files that a batch opens in the mean."""
    counted = [row.opened for row in rows if row.opened >= 0]
    return sum(counted) / len(counted) if counted else None


def files_of(folder: RankFolder) -> list[Path]:
    """Files that were seen open while batches were made, folders by turns; they may be gone by now."""
    by_folder: dict[str, list[Path]] = {}
    for place in load_records(folder.path).places:
        names = by_folder.setdefault(place.folder, [])
        names += [Path(place.folder) / name for name in place.names]
    turns = itertools.zip_longest(*by_folder.values())
    return list(dict.fromkeys(path for turn in turns for path in turn if path is not None))


def epoch_batches(use: LoaderUse) -> int | None:
    """Batches of an epoch, where more than one was begun; the last one may not have ended."""
    if use.epochs < 2:
        return None
    least, most = use.batches / use.epochs, use.batches / (use.epochs - 1)
    wanted = use.items / use.batch_size if use.items and use.batch_size else most
    return max(round(min(max(wanted, least), most)), 1)


def _report(
    rank: int,
    use: LoaderUse,
    records: LoaderRecords,
    place_of: Callable[[PlaceRow], PlaceRow],
) -> LoaderReport:
    rows = [row for row in records.batches if row.loader == use.number]
    deliveries = [one for one in records.deliveries if one.loader == use.number]
    functions = [one for one in records.functions if one.loader == use.number]
    # Files of batches made in the training process are not told apart by loader.
    places = [
        one
        for one in records.places
        if one.loader == use.number or (one.loader < 0 and not use.workers)
    ]
    return LoaderReport(
        rank=rank,
        number=use.number,
        role=use.role,
        where=use.where,
        dataset=use.dataset,
        items=use.items,
        is_iterable=use.is_iterable,
        workers=use.workers,
        start_method=use.start_method,
        prefetch=use.prefetch,
        batch_size=use.batch_size,
        sampler=use.sampler,
        pins=use.pins,
        persistent=use.persistent,
        epochs=use.epochs,
        batches=use.batches,
        wait_ms=ns_to_ms(use.wait_ns),
        first_wait_ms=ns_to_ms(use.first_wait_ns),
        times=_times(rows, deliveries) if rows else None,
        by_worker=_by_worker(rows),
        functions=_functions(functions),
        places=tuple(place_of(place) for place in _places(places)),
    )


def _making_ns(row: BatchRow) -> int:
    return row.items_ns + row.collate_ns


def _times(rows: Sequence[BatchRow], deliveries: Sequence[Delivery]) -> BatchTimes:
    count = sum(row.count for row in rows)

    def mean_ms(values: Iterable[int]) -> float:
        return ns_to_ms(sum(values) / count)

    def mean_known(values: Sequence[int]) -> float | None:
        return None if min(values) < 0 else sum(values) / count

    queued = mean_known([row.queued_ns for row in rows])
    items, computing = sum(r.items_ns for r in rows), sum(r.items_cpu_ns for r in rows)
    collating = sum(row.collate_ns for row in rows)
    # Nobody tells in which of the two a thread waited for a core: by their length.
    of_items = items / max(items + collating, 1)
    waits = (items - computing) / count - (queued or 0.0) * of_items
    collates = collating / count - (queued or 0.0) * (1 - of_items)
    return BatchTimes(
        batches=count,
        compute_ms=ns_to_ms(computing / count),
        wait_ms=ns_to_ms(max(waits, 0.0)),
        queued_ms=None if queued is None else ns_to_ms(queued),
        collate_ms=ns_to_ms(max(collates, 0.0)),
        send_ms=mean_ms(row.send_ns for row in rows),
        handover_ms=ns_to_ms(_handover_ns(rows, deliveries)),
        pin_ms=mean_ms(one.pin_ns for one in deliveries),
        items_wall_ms=ns_to_ms(items / count),
        items_cpu_ms=ns_to_ms(computing / count),
        collate_wall_ms=ns_to_ms(collating / count),
        collate_cpu_ms=mean_ms(row.collate_cpu_ns for row in rows),
        read_bytes=mean_known([row.read_bytes for row in rows]),
        storage_bytes=mean_known([row.storage_bytes for row in rows]),
        opened=mean_known([row.opened for row in rows]),
    )


def _handover_ns(rows: Sequence[BatchRow], deliveries: Sequence[Delivery]) -> float:
    """Mean time of a batch between its being made and asked for, whichever is later, and its arrival.

    Batches are numbered anew in each epoch: a delivery belongs to the last making of its number before it.
    Without workers the making is the last one that began after the batch was asked for.
    """
    made: dict[int, list[BatchRow]] = {}
    for row in sorted(rows, key=lambda row: row.start_ns):
        if row.count == 1:
            made.setdefault(row.batch, []).append(row)
    spans = []
    for one in sorted(deliveries, key=lambda one: one.delivered_ns):
        candidates = made.get(one.batch, [])
        while len(candidates) > 1 and candidates[1].start_ns < one.delivered_ns:
            candidates.pop(0)
        # Without workers not every batch is timed, and the last that was may be that of an earlier request.
        is_other = (
            bool(candidates) and candidates[0].worker < 0 and candidates[0].start_ns < one.asked_ns
        )
        if candidates and not is_other and candidates[0].start_ns < one.delivered_ns:
            ready = candidates[0].start_ns + _making_ns(candidates[0])
            spans.append(max(one.delivered_ns - max(one.asked_ns, ready), 0))
    return sum(spans) / len(spans) if spans else 0.0


def _by_worker(rows: Sequence[BatchRow]) -> tuple[WorkerRow, ...]:
    found = []
    for worker in sorted({row.worker for row in rows}):
        own = [row for row in rows if row.worker == worker]
        making, count = sum(map(_making_ns, own)), sum(row.count for row in own)
        computing = sum(row.items_cpu_ns + row.collate_cpu_ns for row in own)
        found.append(
            WorkerRow(
                worker=None if worker < 0 else worker,
                batches=count,
                batch_ms=ns_to_ms(making / count),
                cpu_frac=min(1.0, computing / making) if making else 0.0,
            )
        )
    return tuple(found)


def _functions(sampled: Sequence[BusyFunction]) -> tuple[FunctionRow, ...]:
    """Samples of all workers together, by function."""
    whole = sum(one.wall_ns for one in sampled)
    groups: dict[tuple[str, str, str], list[BusyFunction]] = {}
    for one in sampled:
        groups.setdefault((one.phase, one.file, one.function), []).append(one)
    rows = []
    for same in groups.values():
        wall = sum(one.wall_ns for one in same)
        computing = [one.cpu_ns for one in same if one.cpu_ns is not None]
        first = max(same, key=lambda one: one.samples)
        rows.append(
            FunctionRow(
                function=first.function,
                path=first.path,
                file=first.file,
                line=first.line,
                phase=first.phase,
                samples=sum(one.samples for one in same),
                share=wall / whole if whole else 0.0,
                cpu_frac=min(1.0, sum(computing) / wall)
                if wall and len(computing) == len(same)
                else None,
            )
        )
    rows.sort(key=lambda row: -row.share)
    return tuple(rows[:MOST_FUNCTIONS])


def _places(seen: Sequence[DataPlace]) -> list[PlaceRow]:
    """Folders of all workers together; each worker may have seen the same files, so counts are the largest."""
    rows = []
    for folder in {one.folder for one in seen}:
        by_worker: dict[int, int] = {}
        for one in seen:
            if one.folder == folder:
                by_worker[one.worker] = by_worker.get(one.worker, 0) + one.files
        measured = sum(one.sizes_of for one in seen if one.folder == folder)
        size = sum(one.total_bytes for one in seen if one.folder == folder)
        rows.append(
            PlaceRow(
                folder=folder,
                files=max(by_worker.values()),
                mean_bytes=size / measured if measured else None,
            )
        )
    rows.sort(key=lambda row: (-row.files, row.folder))
    return rows[:MOST_PLACES]
