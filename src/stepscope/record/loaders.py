"""The DataLoaders of the process that trains: their settings, what they feed, and when batches arrive."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from stepscope.record.loader.lines import Lines
from stepscope.record.loader.meter import BatchMeter
from stepscope.record.loader.places import OpenedFiles
from stepscope.record.loader.sampler import StackSampler
from stepscope.schema.loader_rows import DELIVERIES_NAME, Delivery, LoaderUse, csv_line
from stepscope.units import NS_PER_S

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from stepscope.record.guard import Guard
    from stepscope.schema.loader_rows import Role

MOST_LOADERS = 100
"""Scripts that make a loader an epoch are told about the first ones only."""

RARE_STEP = 32
"""A loader of which more batches come to each optimizer step than this does not feed training."""


@dataclass(slots=True)
class _Known:
    """A loader and its counts.

    ``without_grad`` counts batches that were asked for while gradients were off, ``steps`` the optimizer
    steps before which it gave at least one batch.
    """

    use: LoaderUse
    epochs: int = 0
    batches: int = 0
    without_grad: int = 0
    steps: int = 0
    since_step: int = 0
    wait_ns: int = 0
    first_wait_ns: int = 0
    waits_for_first: set[int] = field(default_factory=set)


class Loaders:
    """Numbers loaders by first use, and keeps what becomes of each.

    Args:
        folder: The rank's folder.
        guard: What keeps failures away from the script.
    """

    def __init__(self, folder: Path, guard: Guard) -> None:
        self._folder, self._guard = folder, guard
        self._deliveries = Lines(folder / DELIVERIES_NAME)
        self._numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._of_iterator: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._known: dict[int, _Known] = {}
        self._next = 0
        self._rows: list[Delivery] = []
        self._pin_ns = 0
        self._flushed_ns = perf_counter_ns()
        self._meter: BatchMeter | None = None
        self._sampler: StackSampler | None = None

    def starts(self, loader: Any, iterator: Any) -> int:
        """An epoch of the loader begins; the loader's number."""
        number = self._numbers.get(loader)
        if number is None:
            number = self._numbers[loader] = self._next
            self._next += 1
        if number not in self._known and len(self._known) < MOST_LOADERS:
            self._known[number] = _Known(_use_of(number, loader, iterator))
        known = self._known.get(number)
        if known is not None:
            known.epochs += 1
            known.waits_for_first.add(id(iterator))
        self._of_iterator[iterator] = number
        return number

    def in_process(self) -> BatchMeter:
        """The meter of batches that are made in this process."""
        if self._meter is None:
            meter = self._meter = BatchMeter(self._folder, -1)
            places = OpenedFiles(self._folder, -1, -1, meter)
            sampler = self._sampler = StackSampler(self._folder, -1, meter, self._guard)
            sampler.start()

            def flush() -> None:
                sampler.write()
                places.write()

            meter.on_flush = flush
        return self._meter

    def pinned(self, wall_ns: int) -> None:
        """Pinning a batch took so long."""
        self._pin_ns += wall_ns

    def delivered(self, iterator: Any, asked_ns: int, now: int, *, has_grad: bool) -> None:
        """Training has a batch that it asked for at that moment."""
        number = self._of_iterator.get(iterator, -1)
        known = self._known.get(number)
        if known is None:
            return
        wait = now - asked_ns
        known.batches += 1
        known.since_step += 1
        known.without_grad += not has_grad
        known.wait_ns += wait
        if id(iterator) in known.waits_for_first:
            known.waits_for_first.discard(id(iterator))
            known.first_wait_ns += wait
        batch = getattr(iterator, "_rcvd_idx", 0) - 1
        pin_ns, self._pin_ns = self._pin_ns, 0
        self._rows.append(Delivery(number, batch, asked_ns, now, pin_ns))
        if now - self._flushed_ns >= NS_PER_S:
            self.flush()

    def stepped(self) -> None:
        """An optimizer has stepped."""
        for known in self._known.values():
            if known.since_step:
                known.steps += 1
                known.since_step = 0

    def role(self, iterator: Any) -> Role | None:
        """What the loader of this iterator feeds, as far as that is known by now."""
        known = self._known.get(self._of_iterator.get(iterator, -1))
        return None if known is None else _role(known)

    def uses(self) -> tuple[LoaderUse, ...]:
        """The loaders with their settings and counts as they stand."""
        return tuple(_counted(known) for known in self._known.values())

    def flush(self) -> None:
        """Write what has arrived.

        Raises:
            OSError: The file cannot be written.
        """
        self._flushed_ns = perf_counter_ns()
        rows, self._rows = self._rows, []
        self._deliveries.append("".join(map(csv_line, rows)))

    def close(self) -> None:
        """No more batches come."""
        self.flush()
        self._deliveries.close()
        if self._sampler is not None:
            self._sampler.stop()
        if self._meter is not None:
            self._meter.close()


def _role(known: _Known) -> Role | None:
    if known.batches == 0:
        return None
    if known.steps and known.steps * RARE_STEP >= known.batches - known.since_step:
        # Rollouts and the like are read without gradients, but in every step.
        if known.without_grad * 10 < known.batches * 9:
            return "training"
        return "training" if known.steps * 2 >= known.batches else "evaluation"
    if known.without_grad * 10 >= known.batches * 9:
        return "evaluation"
    return "evaluation" if known.batches > RARE_STEP else None


def _counted(known: _Known) -> LoaderUse:
    use = known.use
    return LoaderUse(
        number=use.number,
        role=_role(known),
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
        epochs=known.epochs,
        batches=known.batches,
        wait_ns=known.wait_ns,
        first_wait_ns=known.first_wait_ns,
    )


def _use_of(number: int, loader: Any, iterator: Any) -> LoaderUse:
    """The settings that a loader really has, some of which it derives from others."""
    workers = int(iterator._num_workers)
    is_iterable = int(loader._dataset_kind) == 1
    batch_size = loader.batch_size
    if batch_size is None:
        batch_size = getattr(loader.batch_sampler, "batch_size", None)
    return LoaderUse(
        number=number,
        role=None,
        where=_where(),
        dataset=type(loader.dataset).__qualname__,
        items=None if is_iterable else _length(loader.dataset),
        is_iterable=is_iterable,
        workers=workers,
        start_method=_start_method(loader) if workers else "",
        prefetch=loader.prefetch_factor if workers else None,
        batch_size=batch_size if isinstance(batch_size, int) else None,
        sampler=type(loader.sampler).__qualname__,
        pins=bool(iterator._pin_memory),
        persistent=bool(loader.persistent_workers),
        epochs=0,
        batches=0,
        wait_ns=0,
        first_wait_ns=0,
    )


def _length(dataset: Any) -> int | None:
    try:
        return len(dataset)
    except (TypeError, NotImplementedError, AttributeError, ValueError, RuntimeError):
        return None


def _start_method(loader: Any) -> str:
    """How the workers are started; asking for it must not settle it."""
    import multiprocessing

    context = loader.multiprocessing_context or multiprocessing
    named = context.get_start_method(allow_none=True)
    return str(named or multiprocessing.get_all_start_methods()[0])


def _where() -> str:
    """File and line of the innermost frame that is neither PyTorch's nor ours: the loop over the loader."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] not in ("torch", "stepscope"):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
