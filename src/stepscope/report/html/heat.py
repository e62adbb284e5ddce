"""The heat map of ranks and steps as a drawing in the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from stepscope.units import format_ms

if TYPE_CHECKING:
    from stepscope.schema.report import JobReport

MOST_CELLS: Final = 6_000
"""More cells make a page slow and are too small to see; then the ranks that stand out are shown."""
MOST_STEPS: Final = 60


class Cell(Struct, frozen=True):
    """A rank in a step.

    Attributes:
        x, y: Place in the grid.
        heat: How far its own time is above the least of all, 0 to 1.
        title: The same in words.
    """

    x: int
    y: int
    heat: float
    title: str


class Heat(Struct, frozen=True):
    """A heat map.

    Attributes:
        cells: All cells that were measured.
        ranks: Numbers of the ranks shown, top first.
        steps: Numbers of the steps shown.
        left_out: Ranks that are not shown.
        low_ms, high_ms: Own time of the palest and the darkest cell.
    """

    cells: tuple[Cell, ...]
    ranks: tuple[int, ...]
    steps: tuple[int, ...]
    left_out: int
    low_ms: float
    high_ms: float


def heat_of(job: JobReport) -> Heat | None:
    """A cell's darkness is the rank's own time in the step, waiting for others left out; ``None`` without steps."""
    known = [ms for row in job.own_ms for ms in row[:MOST_STEPS] if ms is not None]
    if not known:
        return None
    steps = job.steps[:MOST_STEPS]
    low, high = min(known), max(known)
    places = _shown(job, MOST_CELLS // len(steps))
    cells = [
        Cell(
            x,
            y,
            (ms - low) / (high - low) if high > low else 0.0,
            f"rank {job.ranks[place]}, step {number}: own {format_ms(ms)}, waiting {format_ms(wait)}",
        )
        for y, place in enumerate(places)
        for x, (number, ms, wait) in enumerate(
            zip(steps, job.own_ms[place], job.wait_ms[place], strict=False)
        )
        if ms is not None
    ]
    return Heat(
        tuple(cells),
        tuple(job.ranks[place] for place in places),
        steps,
        len(job.ranks) - len(places),
        low,
        high,
    )


def _shown(job: JobReport, most: int) -> list[int]:
    """Positions of all ranks, or of those with most time of their own, in order of rank."""
    own = [sum(ms or 0.0 for ms in row) for row in job.own_ms]
    places = sorted(range(len(own)), key=lambda place: -own[place])[:most]
    return sorted(places)
