"""One time axis for samples, phases and steps: how the clocks of a run are brought together."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.schema.run_time import MOST_PHASES
from stepscope.schema.use_report import PhaseSpan, StepSpan
from stepscope.units import NS_PER_S, ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.schema.run_folder import RankFolder, RankRecording, StepRow
    from stepscope.schema.samples import Start

SAME_BOOT_NS = NS_PER_S
"""Two processes whose steady clocks began within this of each other run on one machine."""
MOST_STRETCHES = 240
MOST_STEPS = 240
LEAST_GAP_NS = 1_000_000
"""A shorter pause between two steps is the recorder's own."""
OWN_CLOCK = (
    "samples and steps were timed by one clock, the machine's steady one, so they are aligned exactly; "
    "a sample stands for the time since the one before it"
)
WALL_CLOCK = (
    "samples and steps come from several machines and were aligned by their clocks since 1970, which may differ "
    "by some milliseconds"
)


class Axis(Struct, frozen=True):
    """The time axis of a run: seconds after the script's first line.

    Attributes:
        zero_ns: That moment on the recorder's steady clock.
        start_s, end_s: Where the axis begins and ends.
        stretch_s: Length of a stretch.
        stretches: How many there are.
    """

    zero_ns: int
    start_s: float
    end_s: float
    stretch_s: float
    stretches: int

    def edges(self) -> list[tuple[float, float]]:
        """Start and end of each stretch."""
        marks = [self.start_s + self.stretch_s * place for place in range(self.stretches + 1)]
        return list(pairwise(marks))

    def seconds(self, moment_ns: int) -> float:
        """A moment of the recorder's steady clock on this axis."""
        return (moment_ns - self.zero_ns) / NS_PER_S


def is_one_machine(start: Start, recording: RankRecording) -> bool:
    """Whether watcher and recorder shared a machine, so that their steady clocks are one.

    The moment at which a steady clock was zero tells machines apart: it is that of the boot.
    """
    if start.perf_ns is None:
        return False
    boots = start.time_ns - start.perf_ns, recording.time_ns - recording.perf_ns
    return abs(boots[0] - boots[1]) < SAME_BOOT_NS


def offset_s(start: Start, recording: RankRecording, axis_zero_ns: int) -> float:
    """What to add to a watcher's ``at_s`` to come onto the axis of the recorder."""
    if start.perf_ns is not None and is_one_machine(start, recording):
        return (start.perf_ns - axis_zero_ns) / NS_PER_S
    began = recording.time_ns - recording.perf_ns + axis_zero_ns
    return (start.time_ns - began) / NS_PER_S


def zero_of(recording: RankRecording) -> int:
    """The script's first line on the recorder's steady clock."""
    time = recording.run_time
    if time is not None and time.phases:
        return time.phases[0].start_ns
    return recording.perf_ns


def axis_of(zero_ns: int, first_s: float, last_s: float, interval_s: float) -> Axis:
    """An axis from the first sample to the last, in stretches no shorter than the time between samples."""
    length = max(last_s - first_s, interval_s)
    count = max(min(int(length / interval_s), MOST_STRETCHES), 1)
    return Axis(zero_ns, first_s, last_s, length / count, count)


def phase_spans(recording: RankRecording, axis: Axis) -> tuple[PhaseSpan, ...]:
    """The run's parts on the axis; stretches without length are left out."""
    time = recording.run_time
    if time is None or not time.phases:
        return ()
    starts = [axis.seconds(phase.start_ns) for phase in time.phases]
    # Where changes of part were no longer followed, the end of the last one is not known.
    end = starts[-1] if len(starts) >= MOST_PHASES else time.wall_ns / NS_PER_S
    ends = [*starts[1:], max(end, starts[-1])]
    return tuple(
        PhaseSpan(part=phase.part, start_s=start, end_s=end)
        for phase, start, end in zip(time.phases, starts, ends, strict=True)
        if end > start
    )


def step_spans(steps: Sequence[StepRow], axis: Axis) -> tuple[StepSpan, ...]:
    """Training steps on the axis, neighbours joined until there are few enough."""
    size = max(-(-len(steps) // MOST_STEPS), 1)
    groups = [steps[first : first + size] for first in range(0, len(steps), size)]
    return tuple(step_span(group, axis) for group in groups)


def step_span(group: Sequence[StepRow], axis: Axis) -> StepSpan:
    """Neighbouring steps as one."""
    count = sum(row.count for row in group)
    kinds = {row.kind for row in group}
    last = group[-1]
    return StepSpan(
        first=group[0].number,
        last=last.number + last.count - 1,
        start_s=axis.seconds(group[0].start_ns),
        end_s=axis.seconds(last.start_ns + last.duration_ns),
        mean_ms=ns_to_ms(sum(row.duration_ns for row in group) / count),
        kind=kinds.pop() if len(kinds) == 1 else "mixed",
    )


def undisturbed(rank: RankFolder) -> tuple[StepRow, ...]:
    """Steps that were run without the profiler and after start-up: those whose energy is told.

    Steps of start-up draw differently, those under the profiler take longer.
    """
    kinds = {"clean", "later", "warmup"}
    return tuple(row for row in rank.steps if row.kind in kinds)


def joined(steps: Sequence[StepRow], axis: Axis) -> list[tuple[float, float]]:
    """The time of some steps on the axis, those that follow each other joined."""
    found: list[tuple[int, int]] = []
    for row in steps:
        start, end = row.start_ns, row.start_ns + row.duration_ns
        if found and 0 <= start - found[-1][1] < LEAST_GAP_NS:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return [(axis.seconds(start), axis.seconds(end)) for start, end in found]
