"""Counts usual steps and batches, and tells the hooks which ones are usual."""

from __future__ import annotations

import weakref
from time import perf_counter_ns
from typing import TYPE_CHECKING, Literal

from stepscope.record.loaders import ROLE_EVERY
from stepscope.record.usual import BATCH, LATEST_NS, Usual

if TYPE_CHECKING:
    from stepscope.record.account import RunAccount
    from stepscope.record.disturbance import Disturbance
    from stepscope.record.driver import WindowDriver
    from stepscope.record.guard import Guard
    from stepscope.record.journal import Journal
    from stepscope.record.loaders import KnownLoader, Loaders
    from stepscope.record.own_cost import OwnCost
    from stepscope.record.steps import StepFinder
    from stepscope.schema.run_folder import StepKind


class UsualWay:
    """Counts usual steps and batches, some dozens at a time, and tells hooks which ones are usual.

    The first ``ROLE_EVERY`` steps are not. Later a step is usual when no window may open any more, the only
    optimizer that ever stepped has stepped in the thread that trains, and nothing else than training has run since
    the last one. A batch is usual when its loader feeds training, gave the batch before too, and no checkpoint and no
    other loader came between; every ``ROLE_EVERY`` steps it is found out anew what the loader feeds.

    A recorder is one of these. Whatever of it is not usual begins with :meth:`_catch_up`, so that all is counted in order.

    Attributes:
        driver: The windows, which tells when none is needed any more.
        loaders: The loaders, which count the batches.
        account: The time of the whole run.
    """

    driver: WindowDriver
    loaders: Loaders
    account: RunAccount
    _journal: Journal
    _finder: StepFinder
    _cost: OwnCost
    _disturbance: Disturbance

    def __init__(self, guard: Guard) -> None:
        self._usual = Usual(
            guard.wrap(self.loader_begins),
            guard.wrap(self.loader_returns),
            guard.wrap(self._ended),
            guard.wrap(self.optimizer_stepped),
            guard.wrap(self._counts),
        )
        guard.when_off(self._forget)
        self._number = self._steps_seen = 0
        self._step_start_ns: int | None = None
        self._wait_ns = 0
        self._wait_start_ns = 0
        self._loader_depth = self._batches = 0
        self._batches_before = 1
        self._foreign: set[int] = set()
        self._usual_loader: KnownLoader | None = None
        self._watched: dict[str, weakref.ref[object]] = {}

    def _forget(self) -> None:
        """Nothing is usual from now on."""
        self._usual.loader = self._usual.optimizer = 0

    def _sees_optimizer(self, optimizer: object) -> None:
        """A step has gone the long way; the next one of this optimizer may be usual."""
        usual, finder = self._usual, self._finder
        is_usual = (
            id(optimizer) == finder.only
            and self._steps_seen >= ROLE_EVERY
            and self._step_start_ns is not None
            and self.driver.is_over
            and not self._foreign
            and self.account.is_training
        )
        if is_usual:
            self._watch("optimizer", optimizer)
        else:
            usual.optimizer = 0
        usual.thread = finder.thread or 0

    def _sees_loader(self, iterator: object) -> None:
        """A batch for training has gone the long way; the next one of this loader may be usual."""
        usual = self._usual
        if (
            self._steps_seen >= ROLE_EVERY
            and self._finder.source == "optimizer"
            and self.driver.is_over
            and self.account.is_training
        ):
            self._watch("loader", iterator)
            usual.numbers = hasattr(iterator, "_rcvd_idx")
            usual.thread = self._finder.thread or 0
            self._usual_loader = self.loaders.known(iterator)

    def _watch(self, name: Literal["loader", "optimizer"], one: object) -> None:
        """One object is usual for as long as it lives: its place in memory may be another's afterwards."""
        usual, known = self._usual, id(one)
        setattr(usual, name, known)
        watched = self._watched.get(name)
        if watched is not None and watched() is one:
            return

        def gone(_: object) -> None:
            if getattr(usual, name) == known:
                setattr(usual, name, 0)

        self._watched[name] = weakref.ref(one, gone)

    def _counts(self) -> None:
        """Enough is noted; what counting it takes is no part of a step."""
        usual, begin, seen = self._usual, perf_counter_ns(), self._steps_seen
        is_in_step = len(usual.noted[-1]) == BATCH
        self._catch_up()
        if self._steps_seen // ROLE_EVERY > seen // ROLE_EVERY:
            usual.loader = 0
        if self._foreign or not self.driver.is_over:
            self._forget()
        end = perf_counter_ns()
        usual.due_ns = end + LATEST_NS
        self._cost.ns += end - begin
        if not is_in_step:
            self.account.own(end - begin)
            self._step_start_ns = end

    def _catch_up(self) -> None:
        """Count what is noted."""
        usual = self._usual
        noted, usual.noted = usual.noted, []
        for one in noted:
            if len(one) == BATCH:
                self._count_batch(*one)
            else:
                self._count_step(one[0], one[1], one[2:])

    def _count_batch(self, asked: int, now: int, number: int) -> None:
        self._batches += 1
        self._wait_ns += now - asked
        if self._usual_loader is not None:
            self.loaders.gave(self._usual_loader, number - 1, asked, now)

    def _count_step(self, now: int, end: int, parts: tuple[int, ...]) -> None:
        start = self._step_start_ns or now
        self._finder.repeats += 1
        self.loaders.stepped()
        self._note_step("later", start, now, parts)
        self._batches_before, self._batches = self._batches or 1, 0
        self._wait_ns = 0
        self._step_start_ns = end
        self._cost.ns += end - now
        self.account.stepped(now, end - now)

    def _note_step(self, kind: StepKind, start: int, now: int, parts: tuple[int, ...] = ()) -> None:
        self._journal.step(self._number, kind, start, now - start, self._wait_ns, parts)
        self._number += 1
        self._steps_seen += 1

    def _ended(self, iterator: object, asked: int) -> None:
        """A loader whose batches are usual had none left, or failed: the long way from here on."""
        self._catch_up()
        self._loader_depth = 1
        self._batches += 1
        self._wait_start_ns = asked
        self.loader_returns(iterator, False)

    def optimizer_stepped(self, optimizer: object) -> None:
        """The long way of a step."""
        raise NotImplementedError

    def loader_begins(self, iterator: object) -> None:
        """The long way to a batch."""
        raise NotImplementedError

    def loader_returns(self, iterator: object, delivers: bool) -> None:
        """The long way back from it."""
        raise NotImplementedError
