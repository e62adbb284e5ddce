"""Words for where a whole run goes, shared by terminal and page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from stepscope.report.words import Word
from stepscope.schema.run_time import RUN_PARTS
from stepscope.units import format_ms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.schema.run_time import RunPart, RunParts

WORDS: Final[Mapping[RunPart, Word]] = {
    "startup": Word("start-up", "Until the first training step has ended."),
    "steps": Word("training steps", "Everything from the end of a step to the end of the next."),
    "evaluation": Word("evaluation", "Loops over loaders that do not feed training."),
    "checkpoint": Word("checkpoints", "Inside the functions that save."),
    "between": Word("between epochs", "From the end of a training loader to its next first batch."),
    "exit": Word("after training", "From the end of the last step to the end of the script."),
    "stepscope": Word("stepscope", "Starting and stopping the profiler, and the recorder's hooks."),
}
"""Parts of a run; the sentences say exactly what was measured."""


class RunShare(Struct, frozen=True):
    """A part of the run.

    Attributes:
        part: Its key.
        word: Its label and what it means.
        ms: Its time.
        frac: Of the wall time.
    """

    part: RunPart
    word: Word
    ms: float
    frac: float


def shares(run: RunParts) -> tuple[RunShare, ...]:
    """The parts in their order, those of no length left out."""
    return tuple(
        RunShare(part, WORDS[part], run.parts_ms[part], run.parts_ms[part] / run.wall_ms)
        for part in RUN_PARTS
        if run.parts_ms.get(part) and run.wall_ms > 0
    )


def note(run: RunParts) -> str:
    """What start-up holds, and how often the other parts came up."""
    inside = []
    if run.import_ms is not None:
        inside.append(f"importing torch took {format_ms(run.import_ms)}")
    if run.first_step_ms is not None:
        inside.append(f"the first step {format_ms(run.first_step_ms)}")
    if run.compile_ms is not None:
        inside.append(f"compilation {format_ms(run.compile_ms)} in all")
    counts = [
        f"{count:,} {name if count == 1 else name + 's'}"
        for count, name in (
            (run.evaluations, "evaluation"),
            (run.checkpoints, "checkpoint"),
            (run.epochs, "epoch"),
        )
        if count
    ]
    sentences = [", ".join(part) for part in (inside, counts) if part]
    return ". ".join(text[:1].upper() + text[1:] for text in sentences) + ("." if sentences else "")
