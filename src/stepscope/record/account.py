"""Accounts for the whole wall time of a run: each moment of the training thread belongs to one part."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from stepscope.schema.run_time import MOST_PHASES, RUN_PARTS, Phase, RunTime

if TYPE_CHECKING:
    from stepscope.schema.run_time import RunPart

_OPEN: tuple[RunPart, ...] = ("steps", "between")
"""Time of these parts counts once the step that it leads to has ended; what leads to none is the exit."""


class RunAccount:
    """Knows which part the run is in, from what hooks tell; every change of part gives the time a name.

    Args:
        begin_ns: When the script began.
    """

    def __init__(self, begin_ns: int) -> None:
        self._begin_ns = self._since = begin_ns
        self._part: RunPart = "startup"
        self._before: RunPart = "startup"
        self._stack: list[RunPart] = []
        self._sums = dict.fromkeys(RUN_PARTS, 0)
        self._open = dict.fromkeys(_OPEN, 0)
        self._first_asked_ns: int | None = None
        self._first_step_ns: int | None = None
        self._import_ns: int | None = None
        self._counts = {"evaluations": 0, "checkpoints": 0, "epochs": 0}
        self._changes = [Phase("startup", begin_ns)]
        self._last_step_ns: int | None = None

    @property
    def apart_ns(self) -> int:
        """What evaluation and checkpoints have taken so far, up to the last change of part."""
        return self._sums["evaluation"] + self._sums["checkpoint"]

    @property
    def is_training(self) -> bool:
        """Whether the run is in its steps."""
        return self._part == "steps"

    @property
    def is_apart(self) -> bool:
        """Whether the run is in an evaluation or a checkpoint."""
        return self._part in ("evaluation", "checkpoint")

    def torch_imported(self, took_ns: int) -> None:
        """Importing torch took so long."""
        self._import_ns = took_ns

    def asked(self, now: int, *, feeds: bool) -> None:
        """A loader was asked for a batch; ``feeds`` says whether for training."""
        if not feeds:
            if self._part != "evaluation":
                self._before = self._part
                self._counts["evaluations"] += 1
            self._enter("evaluation", now)
            return
        if self._first_asked_ns is None:
            self._first_asked_ns = now
        if self._part == "evaluation":
            self._enter(self._before, now)

    def gave(self, now: int, *, feeds: bool, delivers: bool) -> None:
        """The loader handed a batch over, or had none left."""
        if not feeds:
            if not delivers and self._part == "evaluation":
                self._enter(self._before, now)
        elif delivers:
            if self._part == "between":
                self._enter("steps", now)
        else:
            self._counts["epochs"] += 1
            if self._part == "steps":
                self._enter("between", now)

    def step_ended(self, now: int) -> None:
        """A training step has ended."""
        self._enter("steps", now)
        self._last_step_ns = now
        for part in _OPEN:
            self._sums[part] += self._open[part]
            self._open[part] = 0
        if self._first_step_ns is None and self._first_asked_ns is not None:
            self._first_step_ns = now - self._first_asked_ns

    def stepped(self, now: int, own_ns: int) -> None:
        """A training step has ended, after which the recorder took so long."""
        sums, is_open = self._sums, self._open
        if self._part != "steps" or is_open["between"]:
            self.step_ended(now)
            self.own(own_ns)
            return
        # Nearly every step of a long run comes here, and each of them pays.
        sums["steps"] += now - self._since + is_open["steps"]
        sums["stepscope"] += own_ns
        is_open["steps"] = -own_ns
        self._since = self._last_step_ns = now
        if self._first_step_ns is None and self._first_asked_ns is not None:
            self._first_step_ns = now - self._first_asked_ns

    def pauses(self, part: RunPart, now: int) -> None:
        """Something of another kind begins, inside whatever is under way."""
        self._stack.append(self._part)
        self._enter(part, now)
        if part == "checkpoint":
            self._counts["checkpoints"] += 1

    def resumes(self, now: int) -> None:
        """It has ended."""
        if self._stack:
            self._enter(self._stack.pop(), now)

    def own(self, took_ns: int) -> None:
        """So much of the time just past was the recorder's."""
        into = self._open if self._part in self._open else self._sums
        into[self._part] -= took_ns
        self._sums["stepscope"] += took_ns

    def time(self, now: int) -> RunTime:
        """The account as it would be if the run ended now."""
        sums = dict(self._sums)
        sums["exit"] += sum(self._open.values())
        ends_in: RunPart = "exit" if self._part in self._open else self._part
        sums[ends_in] += now - self._since
        return RunTime(
            wall_ns=now - self._begin_ns,
            startup_ns=sums["startup"],
            steps_ns=sums["steps"],
            evaluation_ns=sums["evaluation"],
            checkpoint_ns=sums["checkpoint"],
            between_ns=sums["between"],
            exit_ns=sums["exit"],
            stepscope_ns=sums["stepscope"],
            import_ns=self._import_ns,
            first_step_ns=self._first_step_ns,
            compile_ns=_compile_ns(),
            evaluations=self._counts["evaluations"],
            checkpoints=self._counts["checkpoints"],
            epochs=self._counts["epochs"],
            phases=self._phases(),
        )

    def _phases(self) -> tuple[Phase, ...]:
        """The changes of part; what leads to no step is the exit here too."""
        last = self._last_step_ns
        if last is None:
            return tuple(self._changes)
        found: list[Phase] = []
        for place, phase in enumerate(self._changes):
            later = self._changes[place + 1 : place + 2]
            if phase.part in _OPEN and phase.start_ns >= last:
                found.append(Phase("exit", phase.start_ns))
                continue
            found.append(phase)
            if phase.part in _OPEN and (not later or later[0].start_ns > last):
                found.append(Phase("exit", last))
        return tuple(
            phase
            for place, phase in enumerate(found)
            if not place or found[place - 1].part != phase.part
        )

    def _enter(self, part: RunPart, now: int) -> None:
        if part != self._part and len(self._changes) < MOST_PHASES:
            self._changes.append(Phase(part, now))
        into = self._open if self._part in self._open else self._sums
        into[self._part] += now - self._since
        self._part, self._since = part, now


def _compile_ns() -> int | None:
    """What torch.compile says that compiling took, by its outermost phase."""
    utilities = sys.modules.get("torch._dynamo.utils")
    metrics = getattr(utilities, "compilation_time_metrics", None)
    if not isinstance(metrics, dict):
        return None
    for phase in ("_compile.compile_inner", "entire_frame_compile"):
        seconds = metrics.get(phase)
        if seconds:
            return int(sum(seconds) * 1e9)
    return None
