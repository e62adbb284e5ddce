"""Steps of training that the recorder timed beside the watch, read from the run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema import light_sums
from stepscope.schema.light import PARTS, LightRow, light_files, load_light
from stepscope.schema.run_folder import STEPS_NAME, StepRow, load_steps
from stepscope.schema.watch_summary import StepUse
from stepscope.units import NS_PER_MS, NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

US_PER_S = 1_000_000


def steps_of(folder: Path) -> StepUse | None:
    """All ranks' steps together; ``None`` where none were timed."""
    found = {}
    for path in light_files(folder):
        steps = load_light(path)
        if steps is not None and steps.rows:
            found[steps.head.rank] = steps.rows
    if not found:
        for place, path in enumerate(sorted(folder.glob(f"rank*/{STEPS_NAME}"))):
            rows = tuple(_as_light(row) for row in load_steps(path))
            if rows:
                found[place] = rows
    return _together(found) if found else None


def _together(found: dict[int, tuple[LightRow, ...]]) -> StepUse:
    longest = max(found.values(), key=light_sums.steps_in)
    steady = {rank: light_sums.steady(rows) for rank, rows in found.items()}
    everything: Sequence[LightRow] = [row for rows in steady.values() for row in rows]
    total = sum(row.total_us for row in everything)
    waited = sum(row.parts_us[0] for row in everything)
    number = max(everything, key=lambda row: row.worst_us).worst
    # In a step that all wait for, it is the rank that did not wait.
    slow_rank, slow = max(
        ((rank, row) for rank, rows in steady.items() for row in rows if row.worst == number),
        key=lambda pair: pair[1].worst_us - pair[1].worst_parts_us[PARTS.index("sync")],
    )
    return StepUse(
        ranks=len(found),
        steps=light_sums.steps_in(longest),
        seconds=light_sums.seconds(longest),
        median_ms=light_sums.median_us(everything) / 1000,
        slowest_ms=slow.worst_us / 1000,
        slowest_step=slow.worst,
        slowest_rank=slow_rank,
        wait_frac=waited / total if total >= US_PER_S else None,
        trend_frac=light_sums.trend_frac(light_sums.steady(longest)),
    )


def _as_light(row: StepRow) -> LightRow:
    """A row of a full recording: of a row that several steps share, only their mean is known."""
    total, wait = row.duration_ns // NS_PER_US, row.loader_wait_ns // NS_PER_US
    mean = total // max(row.count, 1)
    parts = (wait, *(0 for _ in PARTS[1:]))
    return LightRow(
        first=row.number,
        count=row.count,
        at_ms=row.start_ns // NS_PER_MS,
        total_us=total,
        parts_us=parts,
        low_us=mean,
        middle_us=mean,
        worst=row.number,
        worst_us=mean,
        worst_parts_us=parts,
    )
