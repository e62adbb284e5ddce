"""A profiler window: the profiler runs, and every step in it is marked."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from stepscope.record.expectation import Expectation
from stepscope.record.gloo import wait_for_gloo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stepscope.record.stack import StackWatch
    from stepscope.schema.run_folder import WindowKind


@dataclass(slots=True)
class FinishedWindow:
    """A window whose profiler has stopped, before its trace is written.

    Attributes:
        profiler: The stopped ``torch.profiler.profile``.
        kind: See ``WindowRecord``.
        first_step: Number of its first step.
        steps_ns: Durations of its whole steps.
        prepare_ns, start_ns, stop_ns: Time that the profiler took in the training thread.
        cut: Why it ended early; ``""`` when it did not.
        dropped: Numbers of steps that only began, whose marks must not look like whole steps.
        watch: What has sampled the training thread's stack; ``None`` where nothing has, or when it is written.
        sampling_ns: CPU time that it has taken.
        expected: What was known of it before it opened.
    """

    profiler: Any
    kind: WindowKind
    first_step: int
    steps_ns: list[int] = field(default_factory=list)
    prepare_ns: int = 0
    start_ns: int = 0
    stop_ns: int = 0
    cut: str = ""
    dropped: list[int] = field(default_factory=list)
    watch: StackWatch | None = None
    sampling_ns: int = 0
    expected: Expectation = field(default_factory=Expectation)


class Window:
    """Drives one ``torch.profiler.profile``: operators, and kernels where there is a device.

    Neither shapes nor stacks are recorded, so that the steps stay close to what they are without, unless
    the window is one in detail.
    Steps are marked ``ProfilerStep#N`` as the profiler's own schedule would, but from the boundary
    on which they really begin.

    Args:
        kind: See ``WindowRecord``.
        first_step: Number of its first step.

    Attributes:
        watch: Samples the training thread's stack while the window is open; ``None`` for no samples.
    """

    def __init__(self, kind: WindowKind, first_step: int) -> None:
        from torch.profiler import profile

        in_detail = kind == "detail"
        self._profiler = profile(
            record_shapes=in_detail, profile_memory=in_detail, with_stack=in_detail
        )
        self._mark: Any = None
        self._result = FinishedWindow(self._profiler, kind, first_step)
        self._number = first_step
        self._is_prepared = self._is_recording = False
        self.watch: StackWatch | None = None

    def prepare(self) -> None:
        """Attach to the devices, which may take long, while nothing is recorded yet."""
        begin = perf_counter_ns()
        with _without_inductor():
            self._profiler.prepare_trace()
        self._is_prepared = True
        self._result.prepare_ns = perf_counter_ns() - begin

    def open(self, first_step: int, expected: Expectation) -> None:
        """Begin to record, and mark the first step."""
        if not self._is_prepared:
            self.prepare()
        if self.watch is not None:
            self.watch.start()
        begin = perf_counter_ns()
        self._profiler.start_trace()
        self._is_recording = True
        self._result.start_ns = perf_counter_ns() - begin
        self._result.first_step = self._number = first_step
        self._result.expected = expected
        self._begin_mark()

    def next_step(self, duration_ns: int, *, begins_next: bool) -> None:
        """A step has ended after so long; mark the next one if it begins at once."""
        self._end_mark()
        self._result.steps_ns.append(duration_ns)
        self._number += 1
        if begins_next:
            self._begin_mark()

    def begin_step(self) -> None:
        """Mark a step that begins some time after the last one ended."""
        if self._mark is None:
            self._begin_mark()

    def drop_step(self) -> None:
        """What had begun as a step turned out to be none."""
        if self._mark is not None:
            self._result.dropped.append(self._number)
            self._end_mark()
            self._number += 1

    def close(self, cut: str = "") -> FinishedWindow:
        """Stop the profiler, which takes a while and waits for the devices."""
        self.drop_step()
        if self.watch is not None:
            self.watch.stop()
            self._result.watch = self.watch
        if not self._is_recording:
            # What is only prepared can only be undone by starting it first.
            self._profiler.start_trace()
        begin = perf_counter_ns()
        wait_for_gloo()
        self._profiler.stop_trace()
        self._result.stop_ns = perf_counter_ns() - begin
        self._result.cut = cut
        return self._result

    def _begin_mark(self) -> None:
        from torch.autograd.profiler import record_function

        self._mark = record_function(f"ProfilerStep#{self._number}")
        self._mark.__enter__()

    def _end_mark(self) -> None:
        if self._mark is not None:
            self._mark.__exit__(None, None, None)
            self._mark = None


@contextlib.contextmanager
def _without_inductor() -> Iterator[None]:
    """Keep PyTorch's profiler from importing the compiler, of which it only asks a setting.

    The question alone takes seconds in a script that compiles nothing. Where the compiler is there
    already, nothing is kept from it.
    """
    import torch

    ask = torch.__dict__.get("__getattr__")
    if ask is None or "torch._inductor" in sys.modules:
        yield
        return

    def answer(name: str) -> object:
        if name == "_inductor":
            raise AttributeError(name)
        return ask(name)

    torch.__dict__["__getattr__"] = answer
    try:
        yield
    finally:
        torch.__dict__["__getattr__"] = ask
