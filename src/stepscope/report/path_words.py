"""Words for the critical path, shared by terminal, page and reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from stepscope.report.words import Word
from stepscope.schema.vocabulary import PATH_PARTS
from stepscope.units import format_frac, format_ms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.schema.path_report import PathKernel, PathReport

WORDS: Final[Mapping[str, Word]] = {
    "compute": Word("kernels", "A kernel that is not communication was waited for."),
    "communication": Word(
        "communication", "Communication was waited for, and in it perhaps another rank."
    ),
    "copies": Word("copies", "A copy or memory set was waited for."),
    "latency": Word(
        "latency",
        "From a launch to its work, from one kernel to the next, from work to the return of its wait.",
    ),
    "launches": Word(
        "launches", "The host is in a call that launches work, or in a call's own part."
    ),
    "operators": Word("operators", "The host runs PyTorch's operators, their launches left out."),
    "python": Word("Python", "The host runs Python between operators."),
    "pauses": Word(
        "host pauses",
        "The host records nothing for 0.2 ms or longer: the program's own Python, or a wait that was not recorded.",
    ),
    "input": Word("loader", "The host waits for the DataLoader."),
    "allocator": Word("allocator", "The host is in a call that allocates or frees device memory."),
    "profiler": Word("profiler", "The profiler waits for the device at an end of its window."),
    "unexplained": Word("unexplained", "The trace does not tell what was waited for."),
}
"""Parts of a critical path."""

LEAST_SHARE: Final = 0.01
"""Parts with less of the path are told together."""

NOTHING: Final = 0.0005
"""Rounded, such a share is none."""


class PathShare(Struct, frozen=True):
    """One part of the path.

    Attributes:
        part: Its key.
        word: Its label and what it means.
        ms: Its time in the mean step.
        frac: Of the step.
    """

    part: str
    word: Word
    ms: float
    frac: float


def shares(path: PathReport) -> tuple[PathShare, ...]:
    """The parts that are on it, longest first."""
    found = [
        PathShare(part, WORDS[part], path.parts_ms[part], path.parts_ms[part] / path.step_ms)
        for part in PATH_PARTS
        if path.parts_ms.get(part) and path.step_ms > 0
    ]
    return tuple(sorted(found, key=lambda share: -share.ms))


def whole(path: PathReport) -> str:
    """What the shares are shares of."""
    length = format_ms(path.step_ms)
    if not path.steps:
        return f"the replayed window, {length}"
    steps = "the steady step" if path.steps == 1 else f"the mean of {path.steps:,} steady steps"
    return f"{steps} as replayed, {length}"


def parts_sentence(path: PathReport) -> str:
    """All parts with their shares and times; those that hold hardly anything together."""
    rows = shares(path)
    said = [row for row in rows if row.frac >= LEAST_SHARE]
    rest = sum(row.frac for row in rows if row.frac < LEAST_SHARE)
    texts = [f"{row.word.label} {format_frac(row.frac)} ({format_ms(row.ms)})" for row in said]
    return ", ".join(texts) + (f", the rest {format_frac(rest)}" if rest >= NOTHING else "")


def kernel_sentence(row: PathKernel) -> str:
    """What a kernel's doubled speed would gain; its name stands before."""
    return f"{format_frac(row.frac)} of the path; twice as fast, it would gain {gain_range(row)}"


def gain_range(row: PathKernel) -> str:
    """What a kernel's doubled speed would gain; one figure where both ends look alike."""
    low, high = f"{row.gain.low:.2f}x", f"{row.gain.high:.2f}x"
    return low if low == high else f"{low} to {high}"


def kernels_sentence(path: PathReport) -> str:
    """That no kernel is waited for; empty where some are."""
    if path.parts_ms.get("compute", 0.0) >= NOTHING * path.step_ms:
        return ""
    if path.is_clean:
        return "No kernel lies on it: faster kernels alone would gain nothing."
    return (
        "No kernel lies on it: as recorded, with the profiler slowing the host, faster kernels alone would gain "
        "nothing."
    )
