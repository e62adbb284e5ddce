"""What a reader of the run must know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.notice import Notice
from stepscope.units import format_bytes

if TYPE_CHECKING:
    from stepscope.schema.run_folder import StepOrigin, WindowRecord


class Notices:
    """Collects notices, one per code, with how often each came up."""

    def __init__(self) -> None:
        self._notices: dict[str, Notice] = {}

    def note(self, code: str, text: str) -> None:
        """Add one; the text of the first of its code stays."""
        known = self._notices.get(code)
        count = known.count + 1 if known is not None else 1
        self._notices[code] = Notice(code=code, count=count, text=known.text if known else text)

    def all(self) -> tuple[Notice, ...]:
        """All of them, in the order in which they came up first."""
        return tuple(self._notices.values())

    def failed(self, failure: Exception | None, traces: tuple[str, ...]) -> None:
        """Say what went wrong in the recorder itself, and why traces could not be written."""
        if failure is not None:
            self.note("recording-stopped", f"recording stopped early: {failure}")
        for why in traces:
            self.note("trace-not-written", f"a trace could not be written: {why}")

    def conclude(
        self,
        *,
        has_torch: bool,
        source: StepOrigin,
        steps_seen: int,
        windows: tuple[WindowRecord, ...],
        settled: bool,
        budget_bytes: float | None = None,
    ) -> None:
        """Say at the end what the recording lacks."""
        traced = [window for window in windows if window.trace is not None]
        if not has_torch:
            self.note("torch-not-imported", "the script never imported torch in this process")
        elif source == "none":
            self.note(
                "no-steps",
                "no optimizer stepped, no DataLoader was read and no model was called again and again in this process, "
                "so there were no steps to find; mark them with step() of stepscope.profile()",
            )
        elif source == "forward":
            self.note(
                "steps-by-forward",
                "no optimizer stepped and no DataLoader was read, so a step is from one call of the model to the next",
            )
        is_said = {"torch-not-imported", "no-steps", "profiler-in-use"} & self._notices.keys()
        if not traced and not is_said:
            self.note(
                "ended-before-window",
                f"the script ended after {steps_seen} whole steps, before a profiler window could be recorded",
            )
        if traced and traced[-1].kind == "early":
            self.note(
                "early-window",
                "the script ended before its steps had settled, so the window is one of its first steps",
            )
        elif traced and traced[-1].kind == "steady" and not settled:
            self.note("not-settled", "the steps had not settled when the profiler window opened")
        if traced and traced[-1].kind == "steady" and budget_bytes is not None:
            self._judge_budget(traced[-1], budget_bytes)
        if traced and traced[-1].cut:
            self.note("window-cut", f"the profiler window ended early: {traced[-1].cut}")

    def _judge_budget(self, window: WindowRecord, budget_bytes: float) -> None:
        """Say what the budget for the trace has changed, and how good the estimate was."""
        steps, wanted = len(window.steps_ns), window.wanted_steps or 0
        budget = format_bytes(budget_bytes)
        if window.expected_bytes is None:
            self.note(
                "trace-size-unknown",
                f"no earlier trace told how large one would be, so the budget of {budget} was not applied",
            )
        elif window.expected_bytes > budget_bytes:
            self.note(
                "trace-budget",
                f"a single step was expected to take {format_bytes(window.expected_bytes)} on disk, more than the "
                f"budget of {budget}, and one was recorded all the same{_found(window)}",
            )
        elif steps < wanted and not window.cut:
            self.note(
                "trace-budget",
                f"{steps} steps were recorded instead of {wanted}, because more were not expected to fit into "
                f"{budget}{_found(window)}",
            )


def _found(window: WindowRecord) -> str:
    """How good the estimate was."""
    if window.expected_bytes is None or window.trace_bytes is None:
        return ""
    return (
        f": {format_bytes(window.expected_bytes)} were expected and the trace takes "
        f"{format_bytes(window.trace_bytes)}"
    )
