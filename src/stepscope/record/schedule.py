"""When to wait, when to time clean steps and when to have the profiler run."""

from __future__ import annotations

from enum import Enum, auto
from statistics import median
from typing import TYPE_CHECKING

from stepscope.record import plan as limits
from stepscope.record.expectation import Expectation

if TYPE_CHECKING:
    from stepscope.record.plan import Plan
    from stepscope.schema.run_folder import StepKind


class Action(Enum):
    """What to do at a step boundary."""

    NOTHING = auto()
    PREPARE = auto()
    OPEN_EARLY = auto()
    OPEN = auto()
    OPEN_DETAIL = auto()
    CLOSE = auto()


class Phase(Enum):
    """What the step that runs now is for."""

    WARMUP = auto()
    CLEAN = auto()
    PREPARING = auto()
    EARLY = auto()
    STEADY = auto()
    BEFORE_DETAIL = auto()
    DETAIL = auto()
    AFTER = auto()


class Schedule:
    """Decides from the lengths of the steps alone; knows nothing of PyTorch.

    First a short early window, so that a run of six steps leaves a trace. Then, once steps have
    settled, clean steps and the window that counts.

    Args:
        plan: What the user asked for.

    Attributes:
        warms_profiler: Whether a window is prepared one step ahead, as it takes to attach to a device.
        settled: Whether steps had settled when timing began; ``False`` also before that.
        is_done: Whether the window that counts is closed, and the detailed one where there is to be one.
        bytes_per_step: What a step of an earlier window took on disk; ``None`` while not known.
        is_size_pending: Whether that will be known soon.
        expected: What is known of the window that is to be opened.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.warms_profiler = False
        self.bytes_per_step: float | None = None
        self.is_size_pending = False
        self.expected = Expectation()
        self.restart()

    def restart(self) -> None:
        """Forget all steps: those that follow are of another kind. Windows are taken anew."""
        self._clean_ns: list[int] = []
        self._early_clean_ns: list[int] = []
        self.settled = False
        self.is_done = False
        self._phase = Phase.WARMUP
        self._seen: list[int] = []
        self._waited_ns = 0
        self._left = 0
        self._later = 0
        self._least_warmup = 0
        self._early_pending = True

    def expect_buffered(self, steps: int) -> None:
        """Leave out at least so many steps, because loader workers had worked ahead for them."""
        self._least_warmup = max(self._least_warmup, min(steps, limits.PATIENCE_STEPS))

    @property
    def kind(self) -> StepKind:
        """What the step that has just ended was for."""
        if self.in_window:
            return "profiled"
        if self._phase is Phase.CLEAN:
            return "clean"
        late = (Phase.AFTER, Phase.BEFORE_DETAIL)
        return "later" if self._phase in late else "warmup"

    def after_step(self, duration_ns: int) -> Action:
        """Take in a whole step; what to do at the boundary that ends it."""
        if self.in_window:
            return self._in_window()
        if self._phase is Phase.PREPARING:
            self._phase = Phase.STEADY
            return Action.OPEN
        if self._phase is Phase.BEFORE_DETAIL:
            self._phase, self._left = Phase.DETAIL, limits.DETAIL_ACTIVE
            return Action.OPEN_DETAIL
        if self._phase is Phase.AFTER:
            if self._later and self._later <= limits.CLEAN_LATER:
                self._clean_ns.append(duration_ns)
            self._later += 1
            return Action.NOTHING
        self._seen.append(duration_ns)
        self._waited_ns += duration_ns
        if self._phase is Phase.WARMUP:
            return self._in_warmup()
        return self._in_clean(duration_ns)

    def postpone(self) -> None:
        """The profiler is taken by somebody else: go on timing, and try again after the next step."""
        if self._phase is Phase.DETAIL:
            self._phase = Phase.BEFORE_DETAIL
        else:
            self._phase = Phase.WARMUP if self._phase is Phase.EARLY else Phase.CLEAN

    def open_now(self, steps: int) -> Action:
        """Open the window that counts at this boundary, as the ranks of the job have agreed.

        Args:
            steps: Its length.
        """
        self._left = steps
        known = self._clean_ns or self._seen
        self._expect(median(known) if known else 0.0)
        self._phase = Phase.PREPARING if self.warms_profiler else Phase.STEADY
        return Action.PREPARE if self.warms_profiler else Action.OPEN

    def again(self) -> None:
        """Take another window once some clean steps have been timed; nothing while one is still to come."""
        if self.is_done:
            self._clean_ns, self._later, self.is_done = [], 0, False
            self._phase = Phase.CLEAN

    def window_cut(self, *, whole_steps: int) -> None:
        """The window had to be closed before its time; with a whole step in it, it counts all the same."""
        if whole_steps == 0:
            self.postpone()
            return
        self._left = 1
        self._in_window()

    @property
    def steps_left(self) -> int:
        """Steps of the window that are still to come."""
        return self._left

    @property
    def is_before_window(self) -> bool:
        """Whether steps are waited for or timed, and the window that counts is to come."""
        return self._phase in (Phase.WARMUP, Phase.CLEAN)

    @property
    def clean_ns(self) -> list[int]:
        """Durations of the clean steps: those around the window that counts, else those before the early one."""
        return self._clean_ns or self._early_clean_ns

    @property
    def is_over(self) -> bool:
        """Whether no step is needed any more, unless another window is asked for."""
        return self._phase is Phase.AFTER and self._later > limits.CLEAN_LATER

    @property
    def in_window(self) -> bool:
        """Whether the profiler runs in the present step."""
        return self._phase in (Phase.EARLY, Phase.STEADY, Phase.DETAIL)

    def _in_window(self) -> Action:
        self._left -= 1
        if self._left > 0:
            return Action.NOTHING
        if self._phase is Phase.STEADY and self._plan.detail:
            # The step after the first window pays for stopping the profiler.
            self._phase = Phase.BEFORE_DETAIL
        elif self._phase in (Phase.STEADY, Phase.DETAIL):
            self._phase, self.is_done = Phase.AFTER, True
        else:
            self._phase, self._early_pending = Phase.WARMUP, False
        return Action.CLOSE

    def _in_warmup(self) -> Action:
        step_ns = median(self._seen[-6:])
        least = max(self._least_warmup, self._plan.warmup_for(step_ns))
        early_at = limits.EARLY_WARMUP + limits.EARLY_CLEAN
        # Without a first short window nobody could tell how large a trace will be.
        is_needed = self._plan.max_megabytes is not None
        is_worth_it = least + self._plan.clean_for(step_ns) > early_at + limits.EARLY_ACTIVE
        if self._early_pending and len(self._seen) >= early_at:
            if is_worth_it or is_needed:
                self._phase, self._left = Phase.EARLY, limits.EARLY_ACTIVE
                self._early_clean_ns = self._seen[-limits.EARLY_CLEAN :]
                self._expect(step_ns)
                return Action.OPEN_EARLY
            self._early_pending = False
        if is_needed and self._early_pending:
            return Action.NOTHING
        if len(self._seen) >= least and self._has_settled():
            self._phase = Phase.CLEAN
        return Action.NOTHING

    def _has_settled(self) -> bool:
        if self._plan.warmup is not None:
            self.settled = True
            return True
        if len(self._seen) >= 6:
            before, last = median(self._seen[-6:-3]), median(self._seen[-3:])
            self.settled = abs(last - before) <= limits.SETTLED_FRAC * before
        return (
            self.settled
            or len(self._seen) >= limits.PATIENCE_STEPS
            or self._waited_ns >= limits.PATIENCE_NS
        )

    def _expect(self, step_ns: float) -> None:
        size = self.bytes_per_step
        wanted = self._left
        if self._phase is not Phase.EARLY:
            wanted = max(wanted, self._plan.active_for(step_ns))
        self.expected = Expectation(
            ns=self._left * step_ns,
            wanted_steps=wanted,
            size_bytes=None if size is None else int(size * self._left),
        )

    def _in_clean(self, duration_ns: int) -> Action:
        self._clean_ns.append(duration_ns)
        step_ns = median(self._clean_ns)
        if len(self._clean_ns) < self._plan.clean_for(step_ns):
            return Action.NOTHING
        if self._plan.max_megabytes is not None and self.is_size_pending:
            del self._clean_ns[: -limits.MOST_CLEAN]
            return Action.NOTHING
        self._left = self._plan.active_for(step_ns, self.bytes_per_step)
        self._expect(step_ns)
        if self.warms_profiler:
            self._phase = Phase.PREPARING
            return Action.PREPARE
        self._phase = Phase.STEADY
        return Action.OPEN
