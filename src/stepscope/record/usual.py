"""The short way of the recorder: what nearly every step and every batch of a long run goes through, and pays for."""

from __future__ import annotations

from threading import get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING

from stepscope.record.loaders import ROLE_EVERY

if TYPE_CHECKING:
    from stepscope.record.account import RunAccount
    from stepscope.record.disturbance import Disturbance
    from stepscope.record.driver import WindowDriver
    from stepscope.record.hooks.compiled import CompiledHook
    from stepscope.record.journal import Journal
    from stepscope.record.loaders import KnownLoader, Loaders
    from stepscope.record.own_cost import OwnCost
    from stepscope.record.steps import StepFinder


class UsualWay:
    """Notes steps and batches that are like those before them, and hands all others to the long way.

    The first ``ROLE_EVERY`` steps go the long way. A later one is usual when no window may open any more, the only optimizer that ever stepped has stepped in the thread
    that trains, and nothing else than training is known to have run since the last one. A batch is usual when its
    loader feeds training, gave the batch before too, and no checkpoint and no other loader came between; every
    so many steps one batch goes the long way, which finds out anew what the loader feeds.

    Both ways lead to the same figures. A recorder is one of these, and its long way the rest of it: a step pays for
    every call and every object that it touches, so there is one function for each event and nothing between.

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
    _compiled: CompiledHook
    _disturbance: Disturbance
    _cost: OwnCost

    def __init__(self) -> None:
        self._number = self._steps_seen = 0
        self._step_start_ns: int | None = None
        self._wait_ns = self._wait_start_ns = 0
        self._loader_depth = self._batches = 0
        self._batches_before = 1
        self._foreign: set[int] = set()
        self._usual = 0
        self._usual_loader: KnownLoader | None = None

    def optimizer_stepped(self, optimizer: object) -> None:
        """An optimizer has stepped."""
        now = perf_counter_ns()
        self._compiled.heard = True
        start, finder = self._step_start_ns, self._finder
        if (
            start is None
            or id(optimizer) != finder.only
            or get_ident() != finder.thread
            or not self.driver.is_over
            or self._foreign
            or self._disturbance.is_there
            or self._steps_seen < ROLE_EVERY
        ):
            self._stepped(optimizer, now)
            return
        finder.repeats += 1
        self.loaders.stepped()
        self._journal.step(self._number, "later", start, now - start, self._wait_ns)
        self._number += 1
        self._steps_seen += 1
        if self._steps_seen % ROLE_EVERY == 0:
            self._usual = 0
        self._batches_before, self._batches = self._batches or 1, 0
        self._wait_ns = 0
        self._step_start_ns = end = perf_counter_ns()
        self._cost.ns += end - now
        self.account.stepped(now, end - now)

    def loader_begins(self, iterator: object) -> None:
        """A loader was asked for a batch."""
        if (
            id(iterator) == self._usual
            and not self._loader_depth
            and self.driver.is_over
            and get_ident() == self._finder.thread
        ):
            self._loader_depth = 1
            self._batches += 1
            self._wait_start_ns = perf_counter_ns()
        else:
            self._asked(iterator)

    def loader_returns(self, iterator: object, delivers: bool) -> None:
        """The loader hands over a batch, or raises because there is none left."""
        known = self._usual_loader
        if id(iterator) == self._usual and delivers and self._loader_depth == 1 and known:
            self._loader_depth = 0
            asked, now = self._wait_start_ns, perf_counter_ns()
            self._wait_ns += now - asked
            self.loaders.gave(known, iterator, asked, now)
            self._cost.ns += perf_counter_ns() - now
        else:
            self._answered(iterator, delivers)

    def _settle_on(self, iterator: object) -> None:
        """Take the loader of a batch for training, which has gone the long way, for the usual one from now on."""
        if (
            self._steps_seen > ROLE_EVERY
            and self._finder.source == "optimizer"
            and self.driver.is_over
            and self.account.is_training
        ):
            self._usual, self._usual_loader = id(iterator), self.loaders.known(iterator)

    def _stepped(self, optimizer: object, now: int) -> None:
        """The long way of a step."""
        raise NotImplementedError

    def _asked(self, iterator: object) -> None:
        """The long way to a batch."""
        raise NotImplementedError

    def _answered(self, iterator: object, delivers: bool) -> None:
        """The long way back from it."""
        raise NotImplementedError
