"""Hears what the script does, times its steps and accounts for the whole of its time."""

from __future__ import annotations

import os
import sys
from threading import get_ident
from time import perf_counter_ns, time_ns
from typing import TYPE_CHECKING

from stepscope.record.account import RunAccount
from stepscope.record.cores import affinity, operator_threads, usable_cores
from stepscope.record.disturbance import Disturbance
from stepscope.record.driver import PATIENT_BATCHES, WindowDriver
from stepscope.record.hooks.compiled import CompiledHook
from stepscope.record.hooks.forward import ForwardHook
from stepscope.record.hooks.importing import ImportHook
from stepscope.record.hooks.loader import LoaderHook, buffered_batches, loader_key
from stepscope.record.hooks.making import MakingHook
from stepscope.record.hooks.optimizer import OptimizerHook, optimizer_exists
from stepscope.record.hooks.profiler import ProfilerHook
from stepscope.record.hooks.saving import SavingHook
from stepscope.record.loaders import Loaders
from stepscope.record.notices import Notices
from stepscope.record.own_cost import OwnCost
from stepscope.record.place import device_in_use, place_of, rank_in_torch
from stepscope.record.steps import StepFinder
from stepscope.record.usual_way import UsualWay
from stepscope.record.windows import Windows
from stepscope.schema.run_folder import RankRecording

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.record.guard import Guard
    from stepscope.record.hooks.hook import Hook
    from stepscope.record.journal import Journal
    from stepscope.record.plan import Plan
    from stepscope.schema.run_folder import StepKind
    from stepscope.schema.run_time import RunTime


class Recorder(UsualWay):
    """The recorder of one process.

    Every method that a hook calls is behind the guard. A step's duration leaves stepscope's own
    work out, which is summed apart.

    Args:
        plan: What the user asked for.
        journal: Where measurements go.
        guard: What keeps failures away from the script.
        begin_ns: When the process began; ``None`` for now.
    """

    def __init__(
        self, plan: Plan, journal: Journal, guard: Guard, begin_ns: int | None = None
    ) -> None:
        super().__init__(guard)
        self._journal = journal
        self._guard = guard
        self.notices = Notices()
        self._finder = StepFinder()
        windows = Windows(journal.rank_folder, guard.wrap(self.write), guard)
        self.driver = WindowDriver(plan, windows, self.notices)
        self.loaders = Loaders(journal.rank_folder, guard)
        self._clock = (time_ns(), perf_counter_ns())
        self._begin_ns = self._clock[1] if begin_ns is None else begin_ns
        self.account = RunAccount(self._begin_ns)
        self._startup_ns: int | None = None
        self._disturbance = Disturbance()
        self._has_grad: Callable[[], bool] = bool
        self._asked_with_grad = self._asked_for_training = True
        self._cost = OwnCost()
        self._is_complete = False
        self._in_torch: tuple[int, int] | None = None
        self._run_time: RunTime | None = None
        guard.on_failure(self.driver.abandon)
        self._import_hook = ImportHook("torch", guard.wrap(self._listen))
        self._listening: list[Hook] = []
        self._saving = SavingHook(guard.wrap(self.saving_begins), guard.wrap(self.saving_ends))
        self._compiled = CompiledHook(self.optimizer_stepped, guard, self._usual)
        self._forward = ForwardHook(self.forward_begins, guard)
        self._hooks = (
            OptimizerHook(self._usual),
            LoaderHook(self._usual),
            MakingHook(
                journal.rank_folder,
                self.loader_starts,
                self.loaders.in_process,
                self.loaders.pinned,
                guard,
            ),
            ProfilerHook(guard.wrap(self.foreign_starts), guard.wrap(self.foreign_ends)),
            self._saving,
        )

    def attach(self) -> None:
        """Begin to listen as soon as torch is there."""
        self._import_hook.install()

    def _listen(self) -> None:
        from torch import is_grad_enabled

        self._has_grad = is_grad_enabled
        if self._import_hook.took_ns is not None:
            self.account.torch_imported(self._import_hook.took_ns)
        self._cost.calibrate(self._guard)
        for hook in (*self._hooks, self._compiled, self._forward):
            hook.install()
            self._listening.append(hook)
        self.write()

    # What the hooks tell

    def optimizer_stepped(self, optimizer: object) -> None:
        """An optimizer has stepped; the long way."""
        now = perf_counter_ns()
        self._usual.heard = True
        self._catch_up()
        may_move = not self.driver.is_open
        ends, is_new = self._finder.optimizer_stepped(id(optimizer), get_ident(), may_move=may_move)
        if is_new:
            self._start_over()
        if ends:
            self.loaders.stepped()
            self._boundary(now)
            self._sees_optimizer(optimizer)
        else:
            self._usual.optimizer = 0
            self._cost.ns += perf_counter_ns() - now

    def loader_starts(self, loader: object, iterator: object) -> int:
        """An epoch of a loader begins; the loader's number."""
        self.loaders.trains = self.loaders.trains or optimizer_exists()
        self._saving.look()
        self._usual.loader = 0
        return self.loaders.starts(loader, iterator)

    def loader_begins(self, iterator: object) -> None:
        """A loader was asked for a batch; the long way."""
        now = perf_counter_ns()
        if self._usual.is_inside or self._finder.thread not in (None, get_ident()):
            return
        self._loader_depth += 1
        if self._loader_depth > 1:
            return
        self._catch_up()
        self._usual.loader = 0
        self._asked_with_grad = self._has_grad()
        self._asked_for_training = self.loaders.feeds(iterator, has_grad=self._asked_with_grad)
        self.account.asked(now, feeds=self._asked_for_training)
        if self._asked_for_training:
            now = self._batch_begins(iterator, now)
        else:
            self._evaluation_begins()
        self._wait_start_ns = perf_counter_ns()
        self._cost.ns += self._wait_start_ns - now

    def loader_returns(self, iterator: object, delivers: bool) -> None:
        """The loader hands over a batch, or raises because there is none left; the long way."""
        thread = self._finder.thread
        if self._loader_depth == 0 or (thread is not None and get_ident() != thread):
            return
        self._loader_depth -= 1
        if self._loader_depth > 0:
            return
        now = perf_counter_ns()
        feeds, grad = self._asked_for_training, self._asked_with_grad
        self.account.gave(now, feeds=feeds, delivers=delivers)
        if feeds:
            self._wait_ns += now - self._wait_start_ns
        if delivers:
            self.loaders.delivered(iterator, self._wait_start_ns, now, has_grad=grad)
            if feeds:
                self._sees_loader(iterator)
        elif self._finder.marks_steps(loader_key(iterator)):
            self._drop_step()
        self._cost.ns += perf_counter_ns() - now

    def forward_begins(self, module: int) -> None:
        """A module was called from outside of all others."""
        now = perf_counter_ns()
        begins, is_new = self._finder.forward_begins(module, get_ident(), trains=optimizer_exists)
        if self._finder.source not in ("none", "forward"):
            self._forward.remove()
        if is_new:
            self._start_over()
        if begins:
            self._boundary(now)
        else:
            self._cost.ns += perf_counter_ns() - now

    def saving_begins(self) -> None:
        """A checkpoint is about to be saved."""
        if get_ident() == self._finder.thread:
            self._catch_up()
            self._forget()
            self.account.pauses("checkpoint", perf_counter_ns())
            self._disturbance.is_there = True

    def saving_ends(self) -> None:
        """It has been saved."""
        if get_ident() == self._finder.thread:
            self.account.resumes(perf_counter_ns())

    def foreign_starts(self, profiler: int) -> None:
        """Somebody is about to start a profiler."""
        if self.driver.windows.is_busy:
            return
        self._foreign.add(profiler)
        self._forget()
        self.notices.note(
            "profiler-in-use",
            "the script runs a profiler of its own, and there can be only one at a time",
        )
        if self.driver.is_open:
            self._cut_window("the script started a profiler of its own")

    def foreign_ends(self, profiler: int) -> None:
        """Somebody's profiler has stopped."""
        self._foreign.discard(profiler)

    def step(self) -> None:
        """The user marks the end of a step."""
        now = perf_counter_ns()
        self._catch_up()
        self._forget()
        _, is_new = self._finder.marked(get_ident())
        if is_new:
            self._start_over()
        self._boundary(now)

    def ask_for_window(self) -> None:
        """Somebody outside wants another window."""
        self.driver.ask()
        self._forget()

    # Batches

    def _batch_begins(self, iterator: object, now: int) -> int:
        """A batch for training begins; the moment from which on the recorder's own time is not counted yet."""
        key = loader_key(iterator)
        begins, is_new = self._finder.loader_begins(key, get_ident())
        if is_new:
            self._start_over()
            self._loader_depth = 1
        if begins:
            now = self._boundary(now)
        if self.driver.is_open and self.driver.watch(self._batches, self._batches_before):
            self._step_start_ns = None
        self._batches += 1
        if self._steps_seen < PATIENT_BATCHES:
            self.driver.expect_buffered(buffered_batches(iterator), self._batches_before)
        return now

    def _evaluation_begins(self) -> None:
        """An evaluation is no part of a step: a step with one in it is told apart."""
        self._disturbance.is_there = True
        self._forget()
        if self.driver.is_open:
            self._cut_window("an evaluation began inside the window")

    # Steps

    def _start_over(self) -> None:
        """Steps from now on are of another kind."""
        self.driver.start_over()
        self._step_start_ns = None
        self._disturbance.start_over()
        self._steps_seen = self._loader_depth = 0

    def _boundary(self, now: int) -> int:
        """A step ends here, and the next one begins; the moment at which it does."""
        # A batch (or a model's call) ends a step only where there is no training; else the step ends with its optimizer.
        is_late = self._finder.source not in ("dataloader", "forward")
        if is_late or (self._step_start_ns and not self.loaders.trains):
            self.account.step_ended(now)
        profiler_ns = 0
        if self._step_start_ns is None:
            self._first_boundary(now)
        elif self.driver.is_over and not self._foreign:
            kind: StepKind = "disturbed" if self._disturbance.is_there else "later"
            self._note_step(kind, self._step_start_ns, now)
        else:
            duration = now - self._step_start_ns
            apart = self._is_apart()
            kind = "disturbed" if apart else self.driver.kind
            self._note_step(kind, self._step_start_ns, now)
            before = perf_counter_ns()
            if not apart:
                source, seen = self._finder.source, self._steps_seen
                self.driver.step_ended(duration, self._number, source, seen)
            profiler_ns = perf_counter_ns() - before
        self._batches_before, self._batches = max(self._batches, 1), 0
        self._wait_ns = 0
        self._disturbance.is_there = False
        self._step_start_ns = end = perf_counter_ns()
        self._cost.ns += end - now - profiler_ns
        self.account.own(end - now)
        return end

    def _is_apart(self) -> bool:
        """Whether the step that ends was known to hold something else than training."""
        if self.driver.schedule.in_window:
            return False
        return bool(self._foreign) or self._disturbance.counts(self._steps_seen)

    def _first_boundary(self, now: int) -> None:
        if self._startup_ns is None:
            self._startup_ns = now - self._begin_ns
        self.driver.begins_after_pause(on_device=device_in_use() != "cpu")

    def _drop_step(self) -> None:
        """What had begun with the loader's call is no step: the loader had nothing left."""
        self._step_start_ns = None
        if self.driver.drop_step():
            self._number += 1

    def _cut_window(self, reason: str) -> None:
        begin = perf_counter_ns()
        self.account.pauses("stepscope", begin)
        self.driver.cut(reason)
        self.account.resumes(perf_counter_ns())
        self._step_start_ns = None

    # The end

    def finish(self) -> None:
        """The script has ended: stop listening and write what there is."""
        self._import_hook.remove()
        for hook in self._listening:
            hook.remove()
        self._forget()
        self._catch_up()
        self.loaders.close()
        self._run_time = self.account.time(perf_counter_ns())
        if self.driver.is_open:
            self.driver.cut("the script ended inside the window")
        self.driver.windows.wait()
        self._conclude()
        self._is_complete = True
        self.write()

    def _conclude(self) -> None:
        """Say what the recording lacks."""
        self.notices.failed(self._guard.failure, self.driver.windows.failures())
        self.notices.conclude(
            has_torch="torch" in sys.modules,
            source=self._finder.source,
            steps_seen=self._steps_seen,
            windows=self.driver.windows.records(),
            settled=self.driver.schedule.settled,
            budget_bytes=self.driver.budget_bytes,
        )

    def recording(self) -> RankRecording:
        """The measurements as they stand."""
        torch = sys.modules.get("torch")
        # As torch.distributed has or had them, else as the launcher gave them.
        self._in_torch = rank_in_torch() or self._in_torch
        rank, world = self._in_torch or (self._journal.rank, place_of(os.environ).world_size)
        return RankRecording(
            rank=rank,
            world_size=world,
            pid=os.getpid(),
            torch_version=str(getattr(torch, "__version__", "")) or None,
            device=device_in_use(),
            step_source=self._finder.source,
            steps_seen=self._steps_seen,
            startup_ns=self._startup_ns,
            clean_steps_ns=tuple(self.driver.schedule.clean_ns),
            windows=self.driver.windows.records(),
            own_cost_ns=self._cost.total_ns(
                steps=self._number,
                batches=self.loaders.batches,
                others_ns=self.loaders.own_ns + self.driver.windows.own_ns,
            ),
            time_ns=self._clock[0],
            perf_ns=self._clock[1],
            complete=self._is_complete,
            notices=self.notices.all(),
            cores=usable_cores(),
            threads=operator_threads(),
            affinity=affinity(),
            loaders=self.loaders.uses(),
            run_time=self._run_time or self.account.time(perf_counter_ns()),
        )

    def write(self) -> None:
        """Put the measurements as they stand on disk."""
        self._journal.recording(self.recording())
