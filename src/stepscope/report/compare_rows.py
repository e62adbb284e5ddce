"""Which operators and kernels appeared, vanished or changed between two reports."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stepscope.schema.report import Report

Fate = Literal["appeared", "vanished", "changed"]

LEAST_CHANGE: Final = 0.02
"""A row whose time a step changed by less than this share of its time before did not change."""


class Change(Struct, frozen=True):
    """A kernel or operator in both reports.

    Attributes:
        name: Foreign text; input shapes are summed over.
        fate: What became of it.
        before_ms, after_ms: Its time in the mean step; kernels on the device, operators their own on
            the host. Without steps it is the time in the window.
        before_count, after_count: Its calls in the mean step.
    """

    name: str
    fate: Fate
    before_ms: float
    after_ms: float
    before_count: float
    after_count: float

    @property
    def delta_ms(self) -> float:
        """How much longer it takes in the mean step."""
        return self.after_ms - self.before_ms


def kernel_changes(before: Report, after: Report) -> tuple[Change, ...]:
    """Kernels that differ, largest change first."""
    return _changes(
        _per_step(before, ((row.name, row.total_ms, row.count) for row in before.kernels)),
        _per_step(after, ((row.name, row.total_ms, row.count) for row in after.kernels)),
    )


def operator_changes(before: Report, after: Report) -> tuple[Change, ...]:
    """Operators whose own time differs, largest change first."""
    return _changes(
        _per_step(before, ((row.name, row.self_ms, row.count) for row in before.operators)),
        _per_step(after, ((row.name, row.self_ms, row.count) for row in after.operators)),
    )


def steps_of(report: Report) -> int:
    """Steps of all ranks together, the windows where no step could be told apart."""
    return sum(max(rank.steps.count, 1) for rank in report.ranks)


def _per_step(
    report: Report, rows: Iterable[tuple[str, float, int]]
) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds and calls a step by name."""
    steps = steps_of(report)
    times: dict[str, float] = defaultdict(float)
    counts: dict[str, float] = defaultdict(float)
    for name, ms, count in rows:
        times[name] += ms / steps
        counts[name] += count / steps
    return times, counts


def _changes(
    before: tuple[dict[str, float], dict[str, float]],
    after: tuple[dict[str, float], dict[str, float]],
) -> tuple[Change, ...]:
    """Every name whose time differs enough."""
    made = []
    for name in before[0].keys() | after[0].keys():
        one, other = before[0].get(name, 0.0), after[0].get(name, 0.0)
        fate: Fate = "changed"
        if name not in before[0]:
            fate = "appeared"
        elif name not in after[0]:
            fate = "vanished"
        elif abs(other - one) < LEAST_CHANGE * max(one, other):
            continue
        calls = before[1].get(name, 0.0), after[1].get(name, 0.0)
        made.append(Change(name, fate, one, other, *calls))
    return tuple(sorted(made, key=lambda change: (-abs(change.delta_ms), change.name)))
