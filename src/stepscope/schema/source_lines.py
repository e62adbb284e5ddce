"""The lines of code that hold a step's time, as a part of the Report."""

from __future__ import annotations

from msgspec import Struct


class LineRow(Struct, frozen=True, kw_only=True):
    """A line of code on the training thread's stack.

    Attributes:
        file: Its file, or the cell of a notebook; foreign text.
        line: Its number.
        function: The function that it stands in; foreign text.
        text: The line itself; ``""`` when it could not be read; foreign text.
        is_users: Whether it is the user's own code, and not that of an installed package.
        samples: Samples in which it was the innermost line of the user's code.
        self_ms: Time per steady step in which it was that.
        self_frac: The same as a share of the sampled time.
        total_ms, total_frac: Time in which it was on the stack, calls of the user's own functions included.
        part: Part of the step that most of its own time falls into; ``None`` where times do not tell.
        inner: Function of a library that most of its own time was spent in; ``""`` when in none of Python.
    """

    file: str
    line: int
    function: str
    text: str
    is_users: bool
    samples: int
    self_ms: float
    self_frac: float
    total_ms: float
    total_frac: float
    part: str | None
    inner: str


class SourceLines(Struct, frozen=True, kw_only=True):
    """What sampling the training thread's stack in the profiler's window has found.

    Attributes:
        samples: Samples inside steady steps.
        pause_ms: The pause between two samples that was aimed at.
        cost_ms: CPU time that sampling took over the window.
        rows: Lines by their own time, longest first.
    """

    samples: int
    pause_ms: float
    cost_ms: float
    rows: tuple[LineRow, ...]
