"""The recorder's light mode: every step of the whole run, timed and accounted for, and no profiler ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.record.driver import WindowDriver
from stepscope.record.hooks.arrival import ArrivalHook
from stepscope.record.hooks.phases import PhaseHook
from stepscope.record.hooks.starts import StartHook
from stepscope.record.loaders import Loaders
from stepscope.record.place import rank_in_torch
from stepscope.record.recorder import Recorder

if TYPE_CHECKING:
    from stepscope.record.guard import Guard
    from stepscope.record.light_journal import LightJournal
    from stepscope.record.notices import Notices
    from stepscope.record.plan import Plan
    from stepscope.record.windows import Windows
    from stepscope.schema.run_folder import StepOrigin


SURE_STEPS = 3
"""From this step on it is known where the script trains, and with how many others."""


class LightRecorder(Recorder):
    """The recorder of one process in light mode: the same steps, found in the same way.

    Args:
        plan: What the user asked for.
        journal: Where steps go.
        guard: What keeps failures away from the script.
        begin_ns: When the process began; ``None`` for now.
    """

    def __init__(
        self, plan: Plan, journal: LightJournal, guard: Guard, begin_ns: int | None = None
    ) -> None:
        super().__init__(plan, journal, guard, begin_ns)
        self._light = journal
        self._marks = self._usual.marks = journal.marks
        self.driver = _NoWindows(plan, self.driver.windows, self.notices)
        self.loaders = _UnwrittenLoaders(journal.rank_folder, guard)
        optimizers, loaders, _, profilers, saving = self._hooks
        starts = StartHook(
            journal.rank_folder,
            self.loader_starts,
            self.loaders.in_process,
            self.loaders.pinned,
            guard,
        )
        self._hooks = (optimizers, loaders, starts, profilers, saving)
        self._phases = PhaseHook(self._marks, guard)
        self._arrival = ArrivalHook(self._marks)
        self._is_parallel = False
        journal.apart_ns = lambda: self.account.apart_ns

    def _listen(self) -> None:
        super()._listen()
        self._phases.install()

    def optimizer_stepped(self, optimizer: object) -> None:
        """An optimizer has stepped; the long way."""
        marks = self._marks
        if marks.optimizer_ns:
            marks.optimizer_ends()
        super().optimizer_stepped(optimizer)
        marks.thread = self._finder.thread
        if self._is_parallel:
            if id(optimizer) not in self._arrival.settled:
                self._arrival.stepped(optimizer)
                self._usual.optimizer = 0
        elif self._steps_seen < SURE_STEPS:
            self._is_parallel = rank_in_torch() is not None

    def loader_begins(self, iterator: object) -> None:
        """A loader was asked for a batch; the long way."""
        super().loader_begins(iterator)
        if self._marks.is_paused or not self._asked_for_training:
            self._marks.is_paused = self.account.is_apart

    def loader_returns(self, iterator: object, delivers: bool) -> None:
        """It hands the batch over, or has none left; the long way."""
        super().loader_returns(iterator, delivers)
        if self._marks.is_paused:
            self._marks.is_paused = self.account.is_apart

    def saving_begins(self) -> None:
        """A checkpoint is about to be saved."""
        super().saving_begins()
        self._marks.is_paused = self.account.is_apart

    def saving_ends(self) -> None:
        """It has been saved."""
        super().saving_ends()
        self._marks.is_paused = self.account.is_apart

    def foreign_starts(self, profiler: int) -> None:
        """Somebody starts a profiler, which does not concern this recorder."""

    def ask_for_window(self) -> None:
        """There are no windows."""

    def _boundary(self, now: int) -> int:
        begins = self._step_start_ns is None
        end = super()._boundary(now)
        if begins:
            self._light.begin()
        elif self._number == SURE_STEPS:
            # By now the device is in use, which a run that is killed must tell too.
            self.write()
        if self._marks.is_paused:
            self._marks.is_paused = self.account.is_apart
        return end

    def finish(self) -> None:
        """The script has ended: stop listening and write what there is."""
        self._phases.remove()
        self._arrival.remove()
        super().finish()

    def _conclude(self) -> None:
        """Say what the recording lacks."""


class _NoWindows(WindowDriver):
    """The driver of a recorder that opens no windows: it is over from the beginning."""

    def __init__(self, plan: Plan, windows: Windows, notices: Notices) -> None:
        super().__init__(plan, windows, notices)
        self.is_over = True

    def ask(self) -> None:
        """Nothing can be asked for."""

    def start_over(self) -> None:
        """Steps of another kind are timed like all."""

    def step_ended(self, duration: int, number: int, source: StepOrigin, seen: int) -> None:
        """Nothing follows from a step."""


class _UnwrittenLoaders(Loaders):
    """Loaders whose batches are counted and not written one by one."""

    def flush(self) -> None:
        """There is nothing to write."""

    def _note(self, number: int, batch: int, asked_ns: int, now: int) -> None:
        """The counts hold it."""
