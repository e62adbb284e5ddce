"""The experiment: rounds of trials, each change beside a trial without it, until nothing is open."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.errors import InputError, OptionError
from stepscope.experiment import trial
from stepscope.experiment.judge import ENOUGH_ROUNDS, LEAST_ROUNDS, are_alike, ratio_of
from stepscope.experiment.look import situation_of
from stepscope.experiment.outcome import Experiment, Measured
from stepscope.experiment.variant import Variant, variants_for, varied
from stepscope.record.hooks.changes import Changes
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stepscope.experiment.judge import Ratio
    from stepscope.experiment.outcome import End
    from stepscope.report.compare_stats import Statistic

MOST_ROUNDS = 8
"""What eight pairs of trials do not settle, more of them hardly will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to try.

    Attributes:
        command: The script, or ``-m`` and a module, and its arguments.
        folder: Where to keep everything; it exists and is empty.
        budget_s: No trial begins that would probably end later.
        steps: Steps to time in each trial; ``None`` lets their length decide.
        only: Words of which a change's name must hold one; empty for all changes.
        vary: Options of the script with their values, as ``varied`` takes them.
        tell: Gets a line about each trial.
    """

    command: tuple[str, ...]
    folder: Path
    budget_s: float
    steps: int | None = None
    only: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()
    tell: Callable[[str], None] = print


@dataclass(slots=True)
class _Open:
    """A change while it is tried: trials without and with it, pair by pair."""

    variant: Variant
    pairs: list[tuple[trial.Trial, trial.Trial]] = field(default_factory=list)
    losses_alike: bool | None = None
    end: End | None = None
    note: str = ""

    def judge(self) -> None:
        ratio = self.ratio
        if ratio is None or not self.is_tried:
            return
        if ratio.is_certain and (ratio.is_precise or len(self.pairs) >= ENOUGH_ROUNDS):
            self.end = "certain"
        elif ratio.is_nothing:
            self.end = "no difference"

    @property
    def is_tried(self) -> bool:
        """Whether enough rounds were done for a judgement."""
        return len(self.pairs) >= LEAST_ROUNDS

    @property
    def by(self) -> Statistic:
        """Means, when steps of any trial come in bunches."""
        return "means" if any(one.is_uneven for pair in self.pairs for one in pair) else "medians"

    @property
    def ratio(self) -> Ratio | None:
        """What is known so far; ``None`` before the first pair."""
        if not self.pairs:
            return None
        by = self.by
        return ratio_of(
            [without.step_ns(by) for without, _ in self.pairs],
            [changed.step_ns(by) for _, changed in self.pairs],
        )

    def measured(self) -> Measured:
        variant, gain, ratio = self.variant, self.variant.gain, self.ratio
        # The budget may have been spent on precision.
        sure: End = "certain" if ratio and ratio.is_certain and self.is_tried else "budget"
        return Measured(
            name=variant.name,
            lines=variant.lines,
            rounds=len(self.pairs),
            gain=ratio.gain if ratio else None,
            low=ratio.low if ratio else None,
            high=ratio.high if ratio else None,
            by=self.by,
            predicted_low=gain.low if gain else None,
            predicted_high=gain.high if gain else None,
            end=self.end or sure,
            losses_alike=self.losses_alike,
            note=self.note or variant.note,
        )


def tune(order: Order) -> Experiment:
    """Try changes on a script, which itself is never changed.

    Raises:
        InputError: The script does not run, or has no steps.
        OptionError: There is nothing to try.
    """
    begun = time.monotonic()
    first = _trial(order, "first", order.command, Changes(), first=True)
    if isinstance(first, str):
        raise InputError(f"the script cannot be tried: {first}", path=str(order.folder))
    changes = [_Open(variant) for variant in _variants(order, first.folder)]
    order.tell(f"{len(changes)} changes to try: {', '.join(one.variant.name for one in changes)}")
    bases = [first]
    for number in range(1, MOST_ROUNDS + 1):
        left = [one for one in changes if one.end is None]
        if not left or not _round(order, number, left, bases, begun):
            break
    made = [one.measured() for one in changes]
    made.sort(key=lambda one: -(one.gain or 0.0))
    done = Experiment(
        command=order.command,
        base_step_ms=ns_to_ms(statistics.median(one.step_ns(_shown(one)) for one in bases)),
        seconds=time.monotonic() - begun,
        changes=tuple(made),
    )
    done.save(order.folder)
    return done


def _variants(order: Order, folder: Path) -> list[Variant]:
    _, arguments = _split(order.command)
    own = [one for spec in order.vary for one in varied(spec, arguments)]
    known = variants_for(situation_of(folder))
    if order.only:
        known = tuple(one for one in known if any(word in one.name for word in order.only))
    elif own:
        known = ()
    if not own and not known:
        raise OptionError("there is nothing to try on this script with these options")
    return [*own, *known]


def _split(command: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The script (or ``-m`` and the module), and its arguments."""
    cut = 2 if command[0] == "-m" else 1
    return command[:cut], command[cut:]


def _round(
    order: Order, number: int, left: list[_Open], bases: list[trial.Trial], begun: float
) -> bool:
    """One trial without a change and one with each that is open; False when the budget is spent."""
    longest = 0.0
    base: trial.Trial | str = ""
    script, _ = _split(order.command)
    for place, one in enumerate([None, *left]):
        now = time.monotonic()
        if now - begun + longest > order.budget_s:
            return False
        name = f"round{number}-{place}"
        if one is None:
            base = _trial(order, name, order.command, Changes())
            if isinstance(base, str):
                raise InputError(f"the script cannot be tried: {base}", path=str(order.folder))
            bases.append(base)
        elif isinstance(base, trial.Trial):
            own = one.variant.arguments
            command = order.command if own is None else (*script, *own)
            _tried(one, base, _trial(order, name, command, one.variant.changes))
        longest = max(longest, time.monotonic() - now)
    return True


def _tried(one: _Open, base: trial.Trial, made: trial.Trial | str) -> None:
    if isinstance(made, str):
        one.end, one.note = "failed", made
        return
    one.pairs.append((base, made))
    one.losses_alike = are_alike(base.losses, made.losses)
    one.judge()


def _trial(
    order: Order, name: str, command: tuple[str, ...], changes: Changes, *, first: bool = False
) -> trial.Trial | str:
    made = trial.run(command, changes, order.folder / name, steps=order.steps, first=first)
    said = made
    if isinstance(made, trial.Trial):
        by = _shown(made)
        said = f"{ns_to_ms(made.step_ns(by)):.1f} ms in the {by.removesuffix('s')} step"
    order.tell(f"  {name}: {said}")
    return made


def _shown(made: trial.Trial) -> Statistic:
    return "means" if made.is_uneven else "medians"
