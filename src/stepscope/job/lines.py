"""Lays the samples of the training thread's stack over the trace of the same window, by the clock that they share."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from stepscope.schema.source_lines import LineRow, SourceLines
from stepscope.schema.stack_file import load_stacks
from stepscope.trace import intervals as iv
from stepscope.trace.covers import part_covers
from stepscope.trace.scope import scope_of
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stepscope.analysis.sync import Culprit, Sync
    from stepscope.schema.stack_file import CodeLine, Stack
    from stepscope.trace.intervals import Floats, Ints
    from stepscope.trace.model import Trace

LEAST_SAMPLES = 2
"""A single sample names no line."""

LEAST_SHARE = 0.5
"""A line stands behind a call when it has this share of the samples in it, at least."""

MOST_ROWS = 100


class Samples(Struct, frozen=True, eq=False):
    """The samples inside steady steps; those of several windows one after the other.

    Attributes:
        at_ns: When, on the trace's clock, shape ``(samples,)``.
        weight_ns: The time that each stands for: since the sample before it, shape ``(samples,)``.
        stack: Position in ``stacks``, shape ``(samples,)``.
        stacks: The stacks.
        code: The lines that stacks refer to, by position.
        pause_ns, cost_ns: See ``SampledStacks``, summed where that is a sum.
    """

    at_ns: Ints
    weight_ns: Ints
    stack: Ints
    stacks: tuple[Stack, ...]
    code: tuple[CodeLine, ...]
    pause_ns: int
    cost_ns: int

    def innermost(self) -> Ints:
        """Position in ``code`` of each sample's innermost line; -1 for none, shape ``(samples,)``."""
        last = [stack.lines[-1] if stack.lines else -1 for stack in self.stacks]
        return np.array([*last, -1], dtype=np.int64)[self.stack]


def samples_of(trace: Trace) -> Samples | None:
    """The samples that lie in the steady steps of a trace; ``None`` where there are none.

    Raises:
        InputError: A file of samples is there and cannot be read.
    """
    found = [load_stacks(window.path) for window in trace.windows]
    sampled = [one for one in found if one is not None and one.at_ns]
    if not sampled or trace.meta.clock != "epoch":
        return None
    code: list[CodeLine] = []
    stacks: list[Stack] = []
    at: list[Ints] = []
    weight: list[Ints] = []
    number: list[Ints] = []
    for one in sampled:
        after = np.array(one.at_ns, dtype=np.int64)
        at.append(after + one.begin_ns)
        weight.append(after - np.append(0, after[:-1]))
        number.append(np.array(one.stack, dtype=np.int64) + len(stacks))
        stacks += [_moved(stack, len(code)) for stack in one.stacks]
        code += one.code
    times = np.concatenate(at)
    scope = scope_of(trace)
    inside = iv.contains(iv.union(scope.bounds[scope.is_steady]), times)
    if not inside.any():
        return None
    return Samples(
        at_ns=times[inside],
        weight_ns=np.concatenate(weight)[inside],
        stack=np.concatenate(number)[inside],
        stacks=tuple(stacks),
        code=tuple(code),
        pause_ns=max(one.pause_ns for one in sampled),
        cost_ns=sum(one.cost_ns for one in sampled),
    )


def source_lines(trace: Trace, samples: Samples) -> SourceLines:
    """Which lines hold the time of a steady step."""
    scope = scope_of(trace)
    lengths = scope.lengths_ns[scope.is_steady]
    whole = max(int(samples.weight_ns.sum()), 1)
    step_ms = ns_to_ms(float(lengths.mean()))
    parts = _parts(trace, samples.at_ns)
    own = samples.innermost()
    total = _total(samples)
    rows = []
    for place in np.unique(own[own >= 0]).tolist() + sorted(total.keys() - set(own.tolist())):
        mine = own == place
        self_frac = float(samples.weight_ns[mine].sum()) / whole
        total_frac = total[place] / whole
        line = samples.code[place]
        rows.append(
            LineRow(
                file=line.file,
                line=line.line,
                function=line.function,
                text=line.text,
                is_users=line.is_users,
                samples=int(mine.sum()),
                self_ms=self_frac * step_ms,
                self_frac=self_frac,
                total_ms=total_frac * step_ms,
                total_frac=total_frac,
                part=_heaviest(parts[mine].tolist(), samples.weight_ns[mine]),
                inner=_inner(samples, mine),
            )
        )
    rows.sort(key=lambda row: (-row.self_frac, -row.total_frac, row.file, row.line))
    return SourceLines(
        samples=len(samples.at_ns),
        pause_ms=ns_to_ms(samples.pause_ns),
        cost_ms=ns_to_ms(samples.cost_ns),
        rows=tuple(rows[:MOST_ROWS]),
    )


def with_lines(sync: Sync, samples: Samples) -> Sync:
    """The blocking calls with the line behind them, where stacks were not recorded by the profiler itself.

    A sample belongs to a call when it was taken between the call's begin and its end.
    """
    own = samples.innermost()
    named = []
    for culprit, calls in zip(sync.culprits, sync.calls, strict=True):
        inside = iv.contains(calls, samples.at_ns)
        named.append(_named(culprit, own[inside], samples))
    return replace(sync, culprits=tuple(named))


def _named(culprit: Culprit, places: Ints, samples: Samples) -> Culprit:
    places = places[places >= 0]
    if culprit.line is not None or len(places) < LEAST_SAMPLES:
        return culprit
    numbers, counts = np.unique(places, return_counts=True)
    most = int(counts.argmax())
    if counts[most] < LEAST_SHARE * len(places):
        return culprit
    return replace(culprit, line=label_of(samples.code[int(numbers[most])]))


def label_of(line: CodeLine | LineRow) -> str:
    """A line in words: where it stands, and what stands there."""
    text = f": {line.text}" if line.text else ""
    return f"{line.file}({line.line}){text}"


def _moved(stack: Stack, by: int) -> Stack:
    return dataclasses.replace(stack, lines=tuple(line + by for line in stack.lines))


def _total(samples: Samples) -> dict[int, int]:
    """Time in which each line was anywhere on the stack, by its position."""
    by_stack = np.bincount(samples.stack, weights=samples.weight_ns, minlength=len(samples.stacks))
    total: dict[int, int] = {}
    for stack, weight in zip(samples.stacks, by_stack.tolist(), strict=True):
        for place in set(stack.lines) if weight else ():
            total[place] = total.get(place, 0) + int(weight)
    return total


def _parts(trace: Trace, at_ns: Ints) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    """The part of the step that each moment belongs to."""
    covers = part_covers(trace)
    parts = np.full(len(at_ns), covers.parts[-1], dtype=f"<U{max(map(len, covers.parts))}")
    for name, cover in zip(covers.parts, covers.covers, strict=True):
        parts[iv.contains(cover, at_ns)] = name
    return parts


def _heaviest(names: Sequence[str], weights: Ints | Floats) -> str | None:
    sums: dict[str, int] = {}
    for name, weight in zip(names, weights.tolist(), strict=True):
        sums[name] = sums.get(name, 0) + weight
    return max(sums, key=lambda name: sums[name], default=None)


def _inner(samples: Samples, mine: Iterable[bool]) -> str:
    """What most of the samples were in; ``""`` when that is the line itself."""
    chosen = np.asarray(mine)
    names = [samples.stacks[number].inner for number in samples.stack[chosen].tolist()]
    return _heaviest(names, samples.weight_ns[chosen]) or ""
