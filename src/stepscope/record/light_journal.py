"""Writes the steps of a whole run in a few bytes each: see ``schema.light`` for the form."""

from __future__ import annotations

import os
import socket
from statistics import median
from time import perf_counter_ns, time_ns
from typing import TYPE_CHECKING

from stepscope.record.journal import FLUSH_NS, Journal
from stepscope.record.marks import Marks
from stepscope.record.place import place_of
from stepscope.schema import light
from stepscope.units import NS_PER_MS, NS_PER_S, NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stepscope.schema.run_folder import StepKind

LEAST_BLOCK_NS = NS_PER_S // 2
MOST_BLOCK_NS = NS_PER_S
"""A block of steps takes about so long; longer ones become shorter, and shorter ones longer."""

LATE_NS = 2 * NS_PER_S
"""A block that takes this long because its steps have become slow is written as it stands."""


class LightJournal(Journal):
    """The journal of a light recording.

    Attributes:
        marks: Where the parts of the present step are summed.
        apart_ns: Tells what evaluations and checkpoints have taken so far.
    """

    STEPS_NAME = light.LIGHT_NAME

    def __init__(
        self, folder: Path, command: tuple[str, ...], rank: int, *, is_of_a_launcher: bool = False
    ) -> None:
        self.marks = Marks()
        self.apart_ns: Callable[[], int] = int
        self._apart_before = 0
        self._zero_ns, self._zero_time_ns = perf_counter_ns(), time_ns()
        self._steps: list[tuple[int, ...]] = []
        self._block = 0
        super().__init__(folder, command, rank, is_of_a_launcher=is_of_a_launcher)

    def _head(self) -> str:
        place = place_of(os.environ)
        return light.LightHead(
            rank=self.rank,
            world_size=place.world_size,
            host=socket.gethostname(),
            pid=os.getpid(),
            time_ns=self._zero_time_ns,
        ).line()

    def step(
        self,
        number: int,
        kind: StepKind,
        start_ns: int,
        duration_ns: int,
        wait_ns: int,
        parts: tuple[int, ...] = (),
    ) -> None:
        """Note a whole step with its parts, by default those marked until now; reaches the disk within about a second."""
        apart = self._apart() if kind == "disturbed" else 0
        parts = parts or self.marks.take()
        self._steps.append((duration_ns, wait_ns, *parts, apart, start_ns, number))
        if number < light.EXACT_STEPS - 1:
            if start_ns + duration_ns - self._flushed_ns >= FLUSH_NS:
                self.flush()
            return
        if number == light.EXACT_STEPS - 1:
            self._block = self._first_block()
            self.flush()
            return
        behind = number + 1
        if behind % self._block == 0:
            self._end_block(behind, start_ns + duration_ns)
        elif start_ns + duration_ns - self._steps[0][-2] >= LATE_NS:
            self.flush()
            self._block = 1

    def begin(self) -> None:
        """A step begins after something that was none."""
        self.marks.take()
        self._apart()

    def _apart(self) -> int:
        """What evaluations and checkpoints have taken since this was asked last."""
        before, self._apart_before = self._apart_before, self.apart_ns()
        return self._apart_before - before

    def flush(self) -> None:
        """Write the steps noted so far."""
        self._flushed_ns = perf_counter_ns()
        steps, self._steps = self._steps, []
        if not steps:
            return
        if steps[-1][-1] < light.EXACT_STEPS:
            lines = "".join(self._row([step]).line() for step in steps)
        else:
            lines = self._row(steps).line()
        os.write(self._steps_fd, lines.encode())

    def _end_block(self, behind: int, now: int) -> None:
        took = now - self._steps[0][-2]
        self.flush()
        if took > MOST_BLOCK_NS and self._block > 1:
            self._block //= 2
        elif took < LEAST_BLOCK_NS and behind % (2 * self._block) == 0:
            self._block *= 2

    def _first_block(self) -> int:
        """The power of two of steps that takes about long enough."""
        usual = max(median(step[0] for step in self._steps), 1)
        block = 1
        while block * usual < LEAST_BLOCK_NS and block < light.EXACT_STEPS:
            block *= 2
        return block

    def _row(self, steps: list[tuple[int, ...]]) -> light.LightRow:
        lengths = [step[0] for step in steps]
        worst = steps[lengths.index(max(lengths))]
        sums = [sum(column) for column in zip(*(step[:-2] for step in steps), strict=True)]
        first = steps[0]
        return light.LightRow(
            first=first[-1],
            count=len(steps),
            at_ms=max(first[-2] - self._zero_ns, 0) // NS_PER_MS,
            total_us=sums[0] // NS_PER_US,
            parts_us=_parts(sums),
            low_us=min(lengths) // NS_PER_US,
            middle_us=int(median(lengths)) // NS_PER_US,
            worst=worst[-1],
            worst_us=worst[0] // NS_PER_US,
            worst_parts_us=_parts(worst),
        )


def _parts(sums: list[int] | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(max(ns, 0) // NS_PER_US for ns in sums[1 : 1 + len(light.PARTS)])
