"""Drives the profiler's windows: opens and closes them as the schedule says, or as something comes between."""

from __future__ import annotations

from threading import current_thread, main_thread
from time import perf_counter_ns
from typing import TYPE_CHECKING

from stepscope.record.hooks.optimizer import optimizer_exists
from stepscope.record.hooks.profiler import profiler_runs
from stepscope.record.peers import Peers
from stepscope.record.schedule import Action, Schedule
from stepscope.units import NS_PER_S

if TYPE_CHECKING:
    from stepscope.record.notices import Notices
    from stepscope.record.plan import Plan
    from stepscope.record.windows import Windows
    from stepscope.schema.run_folder import StepKind, StepOrigin, WindowKind

PATIENT_BATCHES = 64
"""With an optimizer that has not stepped yet, so many batches are taken for evaluation before training."""

_KINDS: dict[Action, WindowKind] = {
    Action.OPEN: "steady",
    Action.OPEN_EARLY: "early",
    Action.OPEN_DETAIL: "detail",
}


class WindowDriver:
    """The schedule, and the windows that it asks for.

    Args:
        plan: What the user asked for.
        windows: The profiler's windows.
        notices: What a reader must know.

    Attributes:
        schedule: Decides by the lengths of steps.
        windows: The profiler's windows.
        buffered: Steps that loader workers have worked ahead for.
        is_asked: Whether somebody has asked for another window since the last one.
        is_over: Whether no step is needed any more, so that steps may be noted without the driver.
    """

    def __init__(self, plan: Plan, windows: Windows, notices: Notices) -> None:
        self._plan, self._notices = plan, notices
        self.schedule = Schedule(plan)
        self.windows = windows
        self._peers = Peers()
        self.buffered = 0
        self.is_asked = self.is_over = False
        self._open_ns = self._closed_ns = 0

    @property
    def is_open(self) -> bool:
        """Whether a window is open or prepared."""
        return self.windows.open_window is not None

    @property
    def budget_bytes(self) -> float | None:
        """Most that a window's trace may take on disk; ``None`` for no bound."""
        most = self._plan.max_megabytes
        return None if most is None else most * 1e6

    @property
    def kind(self) -> StepKind:
        """What the step that has just ended was for."""
        return self.schedule.kind

    def ask(self) -> None:
        """Somebody wants another window; it opens after some more steps."""
        self.is_asked, self.is_over = True, False

    def start_over(self) -> None:
        """Steps from now on are of another kind."""
        self.is_over = False
        if self.is_open:
            self.windows.close("steps of another kind began")
        self.windows.relabel("evaluation")
        self.schedule.restart()
        self._peers.start_over()

    def begins_after_pause(self, *, on_device: bool) -> None:
        """A step begins some time after the last one ended."""
        if self.windows.open_window is not None:
            self.windows.open_window.begin_step()
        self.schedule.warms_profiler = on_device

    def drop_step(self) -> bool:
        """What had begun is no step; whether a window has counted it."""
        if self.windows.open_window is None:
            return False
        self.windows.open_window.drop_step()
        return True

    def step_ended(self, duration: int, number: int, source: StepOrigin, seen: int) -> None:
        """A step has ended after so long.

        Args:
            duration: Its length.
            number: Number of the step that begins now.
            source: What steps are found by.
            seen: Whole steps so far.
        """
        if self.schedule.is_done and self._wants_another():
            self.schedule.again()
        self.schedule.bytes_per_step = self.windows.bytes_per_step()
        self.schedule.is_size_pending = self.windows.is_writing
        action = self._agreed(self.schedule.after_step(duration), number, duration)
        window = self.windows.open_window
        if self.schedule.in_window and window is not None and action is Action.NOTHING:
            window.next_step(duration, begins_next=True)
            self._mind_length()
        elif action is Action.NOTHING:
            self.is_over = self._plan.every_s is None and self.schedule.is_over
            if seen < PATIENT_BATCHES and self.buffered:
                self.schedule.expect_buffered(self.buffered)
        elif action is Action.CLOSE and window is not None:
            window.next_step(duration, begins_next=False)
            self.windows.close()
            self._closed_ns = perf_counter_ns()
            self._after_window(source)
        elif self._must_wait(source, seen):
            self.schedule.postpone()
        elif action is Action.PREPARE:
            self.windows.prepare("steady", number)
            self._peers.taken()
            self._open_ns = perf_counter_ns()
        else:
            if action is Action.OPEN and not self.is_open:
                self._peers.taken()
            self.windows.open(_KINDS[action], number, self.schedule.expected)
            self._open_ns = perf_counter_ns()

    def _agreed(self, action: Action, number: int, duration: int) -> Action:
        """What is done, so that all ranks open the window that counts with the same step."""
        wants = action in (Action.PREPARE, Action.OPEN)
        # A window that is prepared opens; an early one is small, and not waited for.
        if self.is_open or not (wants or self.schedule.is_before_window):
            return action
        start = self._peers.start(number, self.schedule.steps_left if wants else None, duration)
        if start is not None and number >= start.first:
            return self.schedule.open_now(start.steps)
        if wants:
            self.schedule.postpone()
            return Action.NOTHING
        return action

    def expect_buffered(self, batches: int, batches_a_step: int) -> None:
        """A loader's workers may have worked ahead for so many batches."""
        if batches:
            self.buffered = max(self.buffered, batches // batches_a_step + 1)

    def abandon(self) -> None:
        """Something failed: leave no profiler running behind the script's back."""
        if self.is_open:
            self.windows.close("recording stopped")

    def cut(self, reason: str) -> None:
        """End a window before its time."""
        whole = self.windows.close(reason)
        self.schedule.window_cut(whole_steps=whole)

    def watch(self, batches: int, usual: int) -> bool:
        """Whether a window had to be cut because something else than steps has come into it.

        Args:
            batches: Batches since the last step.
            usual: Batches of the step before.
        """
        if batches > 8 + 4 * usual:
            self.cut("a loop without steps, for instance an evaluation, began inside the window")
            return True
        return self._mind_length()

    def _wants_another(self) -> bool:
        if self.is_asked:
            self.is_asked = False
            return True
        every = self._plan.every_s
        return every is not None and perf_counter_ns() - self._closed_ns >= every * NS_PER_S

    def _mind_length(self) -> bool:
        longest = self._plan.max_seconds
        if not self.is_open or perf_counter_ns() - self._open_ns <= longest * NS_PER_S:
            return False
        self.cut(f"the window had been open for {longest:g} seconds")
        return True

    def _must_wait(self, source: StepOrigin, seen: int) -> bool:
        """Whether this is no moment for a window, although the schedule asks for one."""
        if not self.is_open and profiler_runs():
            self._notices.note(
                "profiler-in-use",
                "another profiler is running in this process, and there can be only one at a time",
            )
            return True
        # The loop runs without optimizer steps, yet there is an optimizer: most likely the evaluation before training.
        return source in ("dataloader", "forward") and seen < PATIENT_BATCHES and optimizer_exists()

    def _after_window(self, source: StepOrigin) -> None:
        if not (self._plan.stop and self.schedule.is_done and current_thread() is main_thread()):
            return
        if source in ("dataloader", "forward") and optimizer_exists():
            return
        self._notices.note(
            "stopped", "the script was ended after the profiler window, as --stop asks"
        )
        raise SystemExit(0)
