"""The DataLoaders of the process that trains: their settings, what they feed, and when batches arrive."""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from stepscope.record.loader.fetching import LOADER_MARK
from stepscope.record.loader.lines import Lines
from stepscope.record.loader.meter import BatchMeter
from stepscope.record.loader.places import OpenedFiles
from stepscope.record.loader.sampler import StackSampler
from stepscope.schema.loader_rows import DELIVERIES_NAME, LoaderUse, numbers_line
from stepscope.units import NS_PER_S

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from stepscope.record.guard import Guard
    from stepscope.schema.loader_rows import Role

MOST_LOADERS = 100
"""Scripts that make a loader an epoch are told about the first ones only."""

SURE_STEPS = 8
"""Before so many optimizer steps only gradients tell what a loader feeds."""

LEAST_WITH_GRAD, LEAST_WITHOUT = 0.2, 0.5
"""A loader feeds training when it gave batches for at least this share of the steps since its first use: more is
asked of one that is read without gradients, as an evaluation is, but also the rollouts of a policy."""

ROLE_EVERY = 64
"""After so many steps what a loader feeds is looked at only so often."""

MOST_PINS = 4_096
"""So many pinned batches may be ahead of training."""

MOST_BATCHES = 256
"""A loader that was read so often without any step does not feed training."""


@dataclass(slots=True)
class KnownLoader:
    """A loader and its counts.

    ``without_grad`` counts batches that were asked for while gradients were off, as ``was_without`` says of the
    last one of which that was found out; ``steps`` the optimizer
    steps before which it gave at least one batch, ``first_step`` how many steps there were before its first use.
    """

    use: LoaderUse
    first_step: int
    role: Role | None = None
    role_at: int = -1
    epochs: int = 0
    batches: int = 0
    without_grad: int = 0
    steps: int = 0
    since_step: int = 0
    was_without: bool = False
    wait_ns: int = 0
    first_wait_ns: int = 0
    waits_for_first: set[int] = field(default_factory=set)


class Loaders:
    """Numbers loaders by first use, and keeps what becomes of each.

    Args:
        folder: The rank's folder.
        guard: What keeps failures away from the script.

    Attributes:
        trains: Whether the script has an optimizer; without one no loader is said to feed anything.
    """

    def __init__(self, folder: Path, guard: Guard) -> None:
        self._folder, self._guard = folder, guard
        self._deliveries = Lines(folder / DELIVERIES_NAME)
        self._numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._known: dict[int, KnownLoader] = {}
        self._next = 0
        self._steps = 0
        self.trains = False
        self._rows: list[tuple[int, ...]] = []
        self._pins: deque[tuple[int, int]] = deque(maxlen=MOST_PINS)
        self._flushed_ns = perf_counter_ns()
        self._meter: BatchMeter | None = None
        self._sampler: StackSampler | None = None

    @property
    def batches(self) -> int:
        """Batches that were handed over so far."""
        return sum(known.batches for known in self._known.values())

    @property
    def own_ns(self) -> int:
        """What timing and sampling the making of batches has taken in this process so far."""
        timing = self._meter.own_ns if self._meter is not None else 0
        return timing + (self._sampler.own_ns if self._sampler is not None else 0)

    def starts(self, loader: Any, iterator: Any) -> int:
        """An epoch of the loader begins; the loader's number."""
        number = self._numbers.get(loader)
        if number is None:
            number = self._numbers[loader] = self._next
            self._next += 1
        if number not in self._known and len(self._known) < MOST_LOADERS:
            self._known[number] = KnownLoader(_use_of(number, loader, iterator), self._steps)
        known = self._known.get(number)
        if known is not None:
            known.epochs += 1
            known.waits_for_first.add(id(iterator))
        setattr(iterator, LOADER_MARK, number)
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
        self._pins.append((perf_counter_ns(), wall_ns))

    def delivered(self, iterator: Any, asked_ns: int, now: int, *, has_grad: bool) -> None:
        """Training has a batch that it asked for at that moment."""
        number = getattr(iterator, LOADER_MARK, -1)
        known = self._known.get(number)
        if known is None:
            return
        wait = now - asked_ns
        known.batches += 1
        known.since_step += 1
        known.was_without = not has_grad
        known.without_grad += known.was_without
        known.wait_ns += wait
        if id(iterator) in known.waits_for_first:
            known.waits_for_first.discard(id(iterator))
            known.first_wait_ns += wait
        self._note(number, getattr(iterator, "_rcvd_idx", 0) - 1, asked_ns, now)

    def known(self, iterator: object) -> KnownLoader | None:
        """What is counted of the loader of an iterator; ``None`` where nothing is."""
        return self._known.get(getattr(iterator, LOADER_MARK, -1))

    def gave(self, known: KnownLoader, batch: int, asked_ns: int, now: int) -> None:
        """One more batch, of that number, like the one before it; not the first of an epoch."""
        known.batches += 1
        known.since_step += 1
        known.without_grad += known.was_without
        known.wait_ns += now - asked_ns
        self._note(known.use.number, batch, asked_ns, now)

    def _note(self, number: int, batch: int, asked_ns: int, now: int) -> None:
        pin_ns = 0
        while self._pins and self._pins[0][0] <= now:
            pin_ns += self._pins.popleft()[1]
        self._rows.append((number, batch, asked_ns, now, pin_ns))
        if now - self._flushed_ns >= NS_PER_S:
            self.flush()

    def stepped(self) -> None:
        """A step of training has ended."""
        self._steps += 1
        for known in self._known.values():
            if known.since_step:
                known.steps += 1
                known.since_step = 0

    def role(self, iterator: Any) -> Role | None:
        """What the loader of this iterator feeds, as far as that is known by now."""
        known = self.known(iterator)
        if known is None or not self.trains:
            return None
        # What a loader feeds is seen early on, and does not change with every batch. While it is not known it is
        # looked for anew: an evaluation with gradients left on is told from training only by what came since.
        since = self._steps - known.role_at
        if since >= ROLE_EVERY or (since and (known.role is None or self._steps < ROLE_EVERY)):
            known.role_at, known.role = self._steps, _role(known, self._steps)
        return known.role

    def feeds(self, iterator: object, *, has_grad: bool) -> bool:
        """Whether a batch is for training: not one that is asked for without gradients by a script that trains."""
        role = self.role(iterator)
        return not self.trains or (has_grad if role is None else role == "training")

    def uses(self) -> tuple[LoaderUse, ...]:
        """The loaders with their settings and counts as they stand."""
        return tuple(
            _counted(known, _role(known, self._steps) if self.trains else None)
            for known in self._known.values()
        )

    def flush(self) -> None:
        """Write what has arrived.

        Raises:
            OSError: The file cannot be written.
        """
        self._flushed_ns = perf_counter_ns()
        rows, self._rows = self._rows, []
        self._deliveries.append("".join(map(numbers_line, rows)))

    def close(self) -> None:
        """No more batches come."""
        self.flush()
        self._deliveries.close()
        if self._sampler is not None:
            self._sampler.stop()
        if self._meter is not None:
            self._meter.close()


def _role(known: KnownLoader, steps: int) -> Role | None:
    """What a loader feeds; ``None`` while that cannot be told."""
    if known.batches == 0:
        return None
    is_without = known.without_grad * 10 >= known.batches * 9
    since = steps - known.first_step
    if since < SURE_STEPS:
        if is_without or (steps and known.batches > MOST_BATCHES and not known.steps):
            return "evaluation"
        return "training" if known.steps else None
    least = LEAST_WITHOUT if is_without else LEAST_WITH_GRAD
    return "training" if known.steps >= least * since else "evaluation"


def _counted(known: KnownLoader, role: Role | None) -> LoaderUse:
    return replace(
        known.use,
        role=role,
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
    """File and line of the loop that reads the loader: the innermost frame of the user's own code.

    Without one, for instance in a program that is installed, the innermost that is neither PyTorch's nor ours.
    """
    frame: FrameType | None = sys._getframe()
    other = ""
    while frame is not None:
        code, name = frame.f_code, str(frame.f_globals.get("__name__", ""))
        place = f"{code.co_filename}:{frame.f_lineno}"
        if name.partition(".")[0] not in ("torch", "stepscope") and not place.startswith("<frozen"):
            if "-packages" not in place:
                return place
            other = other or place
        frame = frame.f_back
    return other
