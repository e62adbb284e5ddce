"""Hears what the script does, times its steps and has the profiler run at the right moment."""

from __future__ import annotations

import os
import sys
from threading import current_thread, get_ident, main_thread
from time import perf_counter_ns, time_ns
from typing import TYPE_CHECKING

from stepscope.record.cores import usable_cores
from stepscope.record.hooks.importing import ImportHook
from stepscope.record.hooks.loader import LoaderHook, buffered_batches, loader_key
from stepscope.record.hooks.making import MakingHook
from stepscope.record.hooks.optimizer import OptimizerHook, optimizer_exists
from stepscope.record.hooks.profiler import ProfilerHook, profiler_runs
from stepscope.record.loaders import Loaders
from stepscope.record.notices import Notices
from stepscope.record.schedule import Action, Schedule
from stepscope.record.steps import StepFinder
from stepscope.record.windows import Windows
from stepscope.schema.run_folder import RankRecording

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.record.guard import Guard
    from stepscope.record.journal import Journal
    from stepscope.record.plan import Plan

PATIENT_BATCHES = 64
"""With an optimizer that has not stepped yet, so many batches are taken for evaluation before training."""

LONGEST_WINDOW_NS = 120 * 1_000_000_000
"""A window is closed after so long at the next sign of life."""


class Recorder:
    """The recorder of one process.

    Every method that a hook calls is behind the guard. A step's duration leaves stepscope's own
    work out, which is summed apart.

    Args:
        plan: What the user asked for.
        journal: Where measurements go.
        guard: What keeps failures away from the script.
    """

    def __init__(self, plan: Plan, journal: Journal, guard: Guard) -> None:
        self._plan = plan
        self._journal = journal
        self._guard = guard
        self.notices = Notices()
        self._finder = StepFinder()
        self._schedule = Schedule(plan)
        self.windows = Windows(journal.rank_folder, guard.wrap(self.write))
        self.loaders = Loaders(journal.rank_folder, guard)
        self._begin_ns = perf_counter_ns()
        self._clock = (time_ns(), self._begin_ns)
        self._number = 0
        self._steps_seen = 0
        self._startup_ns: int | None = None
        self._step_start_ns: int | None = None
        self._wait_ns = 0
        self._wait_start_ns = 0
        self._has_grad: Callable[[], bool] = bool
        self._asked_with_grad = True
        self._loader_depth = 0
        self._batches = 0
        self._batches_before = 1
        self._buffered = 0
        self._window_open_ns = 0
        self._own_ns = 0
        self._foreign: set[int] = set()
        self._is_complete = False
        self._listening: list[OptimizerHook | LoaderHook | MakingHook | ProfilerHook] = []
        guard.on_failure(self._abandon)
        self._import_hook = ImportHook("torch", guard.wrap(self._listen))
        self._hooks = (
            OptimizerHook(guard.wrap(self.optimizer_stepped)),
            LoaderHook(guard.wrap(self.loader_begins), guard.wrap(self.loader_returns)),
            MakingHook(
                journal.rank_folder,
                self.loaders.starts,
                self.loaders.in_process,
                self.loaders.pinned,
                guard,
            ),
            ProfilerHook(guard.wrap(self.foreign_starts), guard.wrap(self.foreign_ends)),
        )

    def attach(self) -> None:
        """Begin to listen as soon as torch is there."""
        self._import_hook.install()

    def _listen(self) -> None:
        from torch import is_grad_enabled

        self._has_grad = is_grad_enabled
        for hook in self._hooks:
            hook.install()
            self._listening.append(hook)
        self.write()

    # What the hooks tell

    def optimizer_stepped(self, optimizer: object) -> None:
        """An optimizer has stepped."""
        now = perf_counter_ns()
        self.loaders.stepped()
        may_move = self.windows.open_window is None
        ends, is_new = self._finder.optimizer_stepped(id(optimizer), get_ident(), may_move=may_move)
        if is_new:
            self._start_over()
        if ends:
            self._boundary(now)

    def loader_begins(self, iterator: object) -> None:
        """A loader was asked for a batch."""
        now = perf_counter_ns()
        if self._finder.thread is not None and get_ident() != self._finder.thread:
            return
        self._loader_depth += 1
        if self._loader_depth > 1:
            return
        key = loader_key(iterator)
        begins, is_new = self._finder.loader_begins(key, get_ident())
        if is_new:
            self._start_over()
            self._loader_depth = 1
        if begins:
            self._boundary(now)
        if self.windows.open_window is not None:
            self._watch_window(now)
        self._batches += 1
        if self._steps_seen < PATIENT_BATCHES:
            self._buffered = max(self._buffered, buffered_batches(iterator))
        self._asked_with_grad = self._has_grad()
        self._wait_start_ns = perf_counter_ns()
        self._own_ns += self._wait_start_ns - now

    def loader_returns(self, iterator: object, delivers: bool) -> None:
        """The loader hands over a batch, or raises because there is none left."""
        if self._loader_depth == 0 or get_ident() != self._finder.thread:
            return
        self._loader_depth -= 1
        if self._loader_depth == 0:
            now = perf_counter_ns()
            self._wait_ns += now - self._wait_start_ns
            if delivers:
                asked, grad = self._wait_start_ns, self._asked_with_grad
                self.loaders.delivered(iterator, asked, now, has_grad=grad)
            if not delivers and self._finder.marks_steps(loader_key(iterator)):
                self._drop_step()

    def foreign_starts(self, profiler: int) -> None:
        """Somebody is about to start a profiler."""
        if self.windows.is_busy:
            return
        self._foreign.add(profiler)
        self.notices.note(
            "profiler-in-use",
            "the script runs a profiler of its own, and there can be only one at a time",
        )
        if self.windows.open_window is not None:
            self._cut_window("the script started a profiler of its own")

    def foreign_ends(self, profiler: int) -> None:
        """Somebody's profiler has stopped."""
        self._foreign.discard(profiler)

    def step(self) -> None:
        """The user marks the end of a step."""
        now = perf_counter_ns()
        _, is_new = self._finder.marked(get_ident())
        if is_new:
            self._start_over()
        self._boundary(now)

    # Steps

    def _start_over(self) -> None:
        """Steps from now on are of another kind."""
        if self.windows.open_window is not None:
            self.windows.close("steps of another kind began")
        self.windows.relabel("evaluation")
        self._schedule.restart()
        self._step_start_ns = None
        self._steps_seen = self._loader_depth = 0

    def _boundary(self, now: int) -> None:
        """A step ends here, and the next one begins."""
        profiler_ns = 0
        if self._step_start_ns is None:
            self._first_boundary(now)
        else:
            duration = now - self._step_start_ns
            kind = self._schedule.kind
            is_disturbed = bool(self._foreign) and not self._schedule.in_window
            self._journal.step(
                self._number,
                "disturbed" if is_disturbed else kind,
                self._step_start_ns,
                duration,
                self._wait_ns,
            )
            self._number += 1
            self._steps_seen += 1
            before = perf_counter_ns()
            if not is_disturbed:
                self._act(self._schedule.after_step(duration), duration)
            profiler_ns = perf_counter_ns() - before
        self._batches_before, self._batches = max(self._batches, 1), 0
        self._wait_ns = 0
        self._step_start_ns = end = perf_counter_ns()
        self._own_ns += end - now - profiler_ns

    def _first_boundary(self, now: int) -> None:
        if self.windows.open_window is not None:
            self.windows.open_window.begin_step()
        if self._startup_ns is None:
            self._startup_ns = now - self._begin_ns
        self._schedule.warms_profiler = _device() != "cpu"

    def _drop_step(self) -> None:
        """What had begun with the loader's call is no step: the loader had nothing left."""
        self._step_start_ns = None
        if self.windows.open_window is not None:
            self.windows.open_window.drop_step()
            self._number += 1

    def _act(self, action: Action, duration: int) -> None:
        """Operate the profiler as the schedule says."""
        window = self.windows.open_window
        if self._schedule.in_window and window is not None and action is Action.NOTHING:
            window.next_step(duration, begins_next=True)
        elif action is Action.NOTHING:
            if self._steps_seen < PATIENT_BATCHES:
                self._schedule.expect_buffered(
                    self._buffered // self._batches_before + 1 if self._buffered else 0
                )
        elif action is Action.CLOSE and window is not None:
            window.next_step(duration, begins_next=False)
            self.windows.close()
            self._after_window()
        elif self._must_wait():
            self._schedule.postpone()
        elif action is Action.PREPARE:
            self.windows.prepare("steady", self._number)
            self._window_open_ns = perf_counter_ns()
        else:
            self.windows.open("steady" if action is Action.OPEN else "early", self._number)
            self._window_open_ns = perf_counter_ns()

    def _must_wait(self) -> bool:
        """Whether this is no moment for a window, although the schedule asks for one."""
        if self.windows.open_window is None and profiler_runs():
            self.notices.note(
                "profiler-in-use",
                "another profiler is running in this process, and there can be only one at a time",
            )
            return True
        # The loop runs without optimizer steps, yet there is an optimizer: most likely the evaluation before training.
        return (
            self._finder.source == "dataloader"
            and self._steps_seen < PATIENT_BATCHES
            and optimizer_exists()
        )

    def _after_window(self) -> None:
        if not (self._plan.stop and self._schedule.is_done and current_thread() is main_thread()):
            return
        if self._finder.source == "dataloader" and optimizer_exists():
            return
        self.notices.note(
            "stopped", "the script was ended after the profiler window, as --stop asks"
        )
        raise SystemExit(0)

    def _watch_window(self, now: int) -> None:
        """Close a window into which something else than steps has come."""
        if self._batches > 8 + 4 * self._batches_before:
            self._cut_window(
                "a loop without steps, for instance an evaluation, began inside the window"
            )
        elif now - self._window_open_ns > LONGEST_WINDOW_NS:
            self._cut_window("the window had been open for two minutes")

    def _cut_window(self, reason: str) -> None:
        whole = self.windows.close(reason)
        self._schedule.window_cut(whole_steps=whole)
        self._step_start_ns = None

    # The end

    def finish(self) -> None:
        """The script has ended: stop listening and write what there is."""
        self._import_hook.remove()
        for hook in self._listening:
            hook.remove()
        self.loaders.close()
        if self.windows.open_window is not None:
            whole = self.windows.close("the script ended inside the window")
            self._schedule.window_cut(whole_steps=whole)
        self.windows.wait()
        self._conclude()
        self._is_complete = True
        self.write()

    def _abandon(self) -> None:
        """Something failed: leave no profiler running behind the script's back."""
        if self.windows.open_window is not None:
            self.windows.close("recording stopped")

    def _conclude(self) -> None:
        """Say what the recording lacks."""
        if self._guard.failure is not None:
            self.notices.note(
                "recording-stopped", f"recording stopped early: {self._guard.failure}"
            )
        for failure in self.windows.failures():
            self.notices.note("trace-not-written", f"a trace could not be written: {failure}")
        self.notices.conclude(
            has_torch="torch" in sys.modules,
            source=self._finder.source,
            steps_seen=self._steps_seen,
            windows=self.windows.records(),
            settled=self._schedule.settled,
        )

    def recording(self) -> RankRecording:
        """The measurements as they stand."""
        torch = sys.modules.get("torch")
        return RankRecording(
            rank=int(os.environ.get("RANK", "0")),
            world_size=int(os.environ.get("WORLD_SIZE", "1")),
            pid=os.getpid(),
            torch_version=str(getattr(torch, "__version__", "")) or None,
            device=_device(),
            step_source=self._finder.source,
            steps_seen=self._steps_seen,
            startup_ns=self._startup_ns,
            clean_steps_ns=tuple(self._schedule.clean_ns),
            windows=self.windows.records(),
            own_cost_ns=self._own_ns,
            time_ns=self._clock[0],
            perf_ns=self._clock[1],
            complete=self._is_complete,
            notices=self.notices.all(),
            cores=usable_cores(),
            loaders=self.loaders.uses(),
        )

    def write(self) -> None:
        """Put the measurements as they stand on disk."""
        self._journal.recording(self.recording())


def _device() -> str:
    """The kind of device that the script uses by now, without waking one up."""
    torch = sys.modules.get("torch")
    for kind in ("cuda", "xpu"):
        module = getattr(torch, kind, None)
        if module is not None and module.is_initialized():
            return kind
    return "cpu"
