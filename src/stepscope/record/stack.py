"""Samples the Python stack of the thread that trains while a window is open, to name the lines that hold the time."""

from __future__ import annotations

import linecache
import sys
import threading
from dataclasses import dataclass, field
from time import sleep, thread_time_ns, time_ns
from typing import TYPE_CHECKING, Any

from stepscope.record import frames
from stepscope.record.switching import hasten, settle
from stepscope.schema.stack_file import CodeLine, SampledStacks, Stack
from stepscope.units import NS_PER_S

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from stepscope.record.guard import Guard

LONGEST_PAUSE_S, SHORTEST_PAUSE_S = 0.01, 0.001
AIM_SAMPLES = 200
"""A window gets so many samples, but no more than 1,000 a second, and at least 100 a second."""

MOST_SAMPLES = 20_000
"""After so many the sampler has seen enough and ends."""

DEEPEST = 24
"""So many of the innermost lines of the user's code are kept of a stack."""

_SCRIPT = str(frames.OWN) + "/record/script.py"
"""What is below the frames of this file has started the script, and is no part of it."""

Line = tuple["CodeType", int]
Seen = tuple["CodeType | None", tuple[Line, ...]]
"""The innermost frame's code where it is not the user's, and the user's lines from the innermost."""


@dataclass(slots=True)
class Samples:
    """What was seen.

    Attributes:
        begin_ns, pause_ns, cost_ns, own: See ``SampledStacks``.
        stacks: Every stack that was seen, with its number.
        kinds: Whose code it is, and its module's name.
        at_ns, stack: One per sample: when, after ``begin_ns``, and the number of its stack.
    """

    begin_ns: int
    pause_ns: int
    cost_ns: int = 0
    own: int = 0
    stacks: dict[Seen, int] = field(default_factory=dict)
    kinds: dict[CodeType, tuple[str, str]] = field(default_factory=dict)
    at_ns: list[int] = field(default_factory=list)
    stack: list[int] = field(default_factory=list)


class StackWatch:
    """A thread that looks at the stack of another one from the window's opening to its end.

    Args:
        thread: The thread that trains, by its Python identity.
        expected_ns: How long the window will be open, about.
        guard: What keeps failures away from the script.
    """

    def __init__(self, thread: int, expected_ns: float, guard: Guard) -> None:
        pause = expected_ns / NS_PER_S / AIM_SAMPLES
        self._pause_s = max(SHORTEST_PAUSE_S, min(LONGEST_PAUSE_S, pause))
        self._of, self._guard = thread, guard
        self._is_over = False
        self._samples = Samples(time_ns(), int(self._pause_s * NS_PER_S))
        self._thread = threading.Thread(target=self._run, name="stepscope-stack", daemon=True)

    def start(self) -> None:
        """Begin to sample."""
        self._samples.begin_ns = time_ns()
        self._thread.start()

    def stop(self) -> None:
        """Sample no more; does not wait for the sampler to notice."""
        self._is_over = True

    def samples(self) -> Samples:
        """What was seen; waits for the sampler's end, which is at most one pause away."""
        self._thread.join(timeout=5.0)
        return self._samples

    def _run(self) -> None:
        hasten(self)
        try:
            for _ in range(MOST_SAMPLES):
                sleep(self._pause_s)
                if self._is_over or not self._guard.is_on:
                    return
                self._guard.call(self._look)
        finally:
            settle(self)
            self._samples.cost_ns = thread_time_ns()

    def _look(self) -> None:
        found, now = self._samples, time_ns()
        frame = sys._current_frames().get(self._of)
        if frame is None:
            return
        if self._kind(frame) == "own":
            found.own += 1
            return
        seen = self._seen(frame)
        number = found.stacks.setdefault(seen, len(found.stacks))
        found.at_ns.append(now - found.begin_ns)
        found.stack.append(number)

    def _seen(self, frame: FrameType) -> Seen:
        """The user's lines on the stack; where there are none, the innermost of an installed package."""
        users: list[Line] = []
        other: tuple[Line, ...] = ()
        inner = None if self._kind(frame) == "users" else frame.f_code
        current: FrameType | None = frame
        while current is not None and len(users) < DEEPEST:
            code = current.f_code
            kind = self._kind(current)
            if kind == "own" and code.co_filename == _SCRIPT:
                break
            if kind == "users":
                users.append((code, current.f_lineno))
            elif kind == "other" and not other:
                other = ((code, current.f_lineno),)
            current = current.f_back
        lines = tuple(users) or other
        if lines and lines[0][0] is inner:
            inner = None
        return inner, lines

    def _kind(self, frame: FrameType) -> str:
        """Whose code a frame runs: ``own`` (stepscope's), ``users``, ``plumbing`` or ``other``."""
        code = frame.f_code
        known = self._samples.kinds.get(code)
        if known is None:
            name = str(frame.f_globals.get("__name__", ""))
            if name.startswith("stepscope."):
                kind = "own"
            elif frames.is_users(code.co_filename) or (
                name == "__main__" and self._is_script(frame)
            ):
                kind = "users"
            else:
                kind = "plumbing" if frames.is_plumbing(code.co_filename, name) else "other"
            known = self._samples.kinds[code] = kind, name
        return known[0]

    def _is_script(self, frame: FrameType) -> bool:
        """Whether it is the main program that stepscope runs, wherever that lies."""
        below = frame.f_back
        return below is not None and below.f_code.co_filename == _SCRIPT


def resolved(samples: Samples) -> SampledStacks:
    """The samples with names in place of code; reads source files, so not for the training thread."""
    places: dict[Line, int] = {}
    stacks = []
    for inner, lines in samples.stacks:
        numbers = [places.setdefault(line, len(places)) for line in reversed(lines)]
        stacks.append(Stack(tuple(numbers), "" if inner is None else _library_name(inner, samples)))
    return SampledStacks(
        begin_ns=samples.begin_ns,
        pause_ns=samples.pause_ns,
        cost_ns=samples.cost_ns,
        own=samples.own,
        code=tuple(_line(*line, samples) for line in places),
        stacks=tuple(stacks),
        at_ns=tuple(samples.at_ns),
        stack=tuple(samples.stack),
    )


def _library_name(code: CodeType, samples: Samples) -> str:
    module = samples.kinds[code][1]
    return f"{module}.{frames.name_of(code)}" if module else frames.name_of(code)


def _line(code: CodeType, number: int, samples: Samples) -> CodeLine:
    return CodeLine(
        file=_cell(code.co_filename) or code.co_filename,
        function=frames.name_of(code),
        line=number,
        text=linecache.getline(code.co_filename, number).strip()[:200],
        is_users=samples.kinds[code][0] == "users",
    )


def _cell(file: str) -> str | None:
    """What a notebook calls the cell that a file of code stands for; ``None`` for other files."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    naming = getattr(getattr(shell, "compile", None), "format_code_name", None)
    label = naming(file) if naming is not None else None
    return " ".join(map(str, label)) if label else None
