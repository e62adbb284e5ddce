"""Where the wall time of a whole run goes, as the recorder keeps it in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RunPart = Literal["startup", "steps", "evaluation", "checkpoint", "between", "exit", "stepscope"]

RUN_PARTS: tuple[RunPart, ...] = (
    "startup",
    "steps",
    "evaluation",
    "checkpoint",
    "between",
    "exit",
    "stepscope",
)
"""In the order in which they are shown."""

ACCOUNT_BASIS = "run-account"
"""Basis of gains of the whole run, which the steps alone do not show."""

MOST_PHASES = 1000
"""A run that changes part more often, for instance one that evaluates after each step, is followed so far."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of a run that belongs to one part; it ends where the next one starts.

    Attributes:
        part: The part.
        start_ns: On the recorder's clock, that of ``steps.csv``.
    """

    part: RunPart
    start_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTime:
    """The wall time of one process, from the start of the script to its end.

    The parts ending in ``_ns`` up to ``stepscope_ns`` exclude each other and sum to ``wall_ns`` exactly.

    Attributes:
        wall_ns: From the script's first line to its end.
        startup_ns: Until the first training step has ended, without what follows.
        steps_ns: Training steps: everything from the end of one to the end of the next, logging included.
        evaluation_ns: Loops over loaders that do not feed training.
        checkpoint_ns: Inside ``torch.save`` and PyTorch's other ways to save.
        between_ns: From the end of a training loader to the first batch of its next epoch.
        exit_ns: After the last training step.
        stepscope_ns: The recorder's own work: starting and stopping the profiler, and its hooks.
        import_ns: Of start-up, importing torch; ``None`` when it was there before.
        first_step_ns: Of start-up, from asking for the first batch to the end of the first step; ``None``
            without a loader.
        compile_ns: In all parts together, compilation by ``torch.compile``; ``None`` without any.
        evaluations: Loops over loaders that do not feed training.
        checkpoints: Calls that save.
        epochs: Times that a training loader came to its end.
        phases: When the run was in which part, in order and without gaps, the first from the script's first
            line; the recorder's hooks are not told apart. They end before the run where it changes part too often.
    """

    wall_ns: int
    startup_ns: int
    steps_ns: int
    evaluation_ns: int
    checkpoint_ns: int
    between_ns: int
    exit_ns: int
    stepscope_ns: int
    import_ns: int | None
    first_step_ns: int | None
    compile_ns: int | None
    evaluations: int
    checkpoints: int
    epochs: int
    phases: tuple[Phase, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParts:
    """The same for the Report, of one rank.

    Attributes:
        rank: The rank.
        wall_ms: From the script's first line to its end.
        parts_ms: Exclusive parts that sum to it; keys are ``RUN_PARTS``.
        import_ms: Of start-up, importing torch; ``None`` when it was there before.
        first_step_ms: Of start-up, the first step, from asking for its batch; ``None`` without a loader.
        compile_ms: In all parts together, compilation by ``torch.compile``; ``None`` without any.
        evaluations, checkpoints, epochs: How many there were.
    """

    rank: int
    wall_ms: float
    parts_ms: dict[str, float]
    import_ms: float | None
    first_step_ms: float | None
    compile_ms: float | None
    evaluations: int
    checkpoints: int
    epochs: int
