"""What the idle time behind a finding is paid with: idle share x price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.cost.span import Span, known, not_known, of_estimate
from stepscope.units import format_frac

if TYPE_CHECKING:
    from stepscope.schema.cost import Estimate
    from stepscope.schema.report import Finding, Report

IDLE_REGIMES = frozenset({"input", "host", "sync", "copy", "communication", "straggler"})
"""In these the share of a finding is time in which the device computes nothing."""


class StepTime(Struct, frozen=True, kw_only=True):
    """How steps stand to what is paid for.

    Attributes:
        steps_frac: Share of the paid time that training steps take.
        profiler_frac: Share of a recorded step that is the profiler's own weight.
        ranks: Ranks of the job, among which the money is divided.
    """

    steps_frac: float
    profiler_frac: float
    ranks: int


def step_time(report: Report) -> StepTime:
    """What a report says of it; all time is in steps, and the profiler weighs nothing, where it does not."""
    recording = report.recording
    run = None if recording is None else recording.run
    inflation = None if recording is None else recording.inflation_frac
    steps = 1.0
    if run is not None and run.wall_ms > 0:
        steps = run.parts_ms.get("steps", 0.0) / run.wall_ms
    heavier = max(inflation or 0.0, 0.0)
    return StepTime(
        steps_frac=steps, profiler_frac=heavier / (1 + heavier), ranks=len(report.ranks)
    )


def waste_of(finding: Finding, money: Estimate, time: StepTime) -> Estimate:
    """What a finding's idle time costs.

    The finding's share was seen under the profiler. At worst all of the profiler's weight lay in it, at
    best none of it; that is the range.

    Args:
        finding: The finding.
        money: What is paid in all.
        time: How steps stand to that.
    """
    paid = of_estimate(money)
    if paid is None:
        return not_known(money.unit, money.how)
    share = finding.share_frac
    if finding.regime == "device-unused" and share is not None:
        return known(paid, money.unit, "modelled", "the device is paid for and not used at all")
    if finding.regime not in IDLE_REGIMES or share is None:
        why = "the device is not idle for it: what a change saves is its gain"
        return not_known(money.unit, why)
    own = time.profiler_frac
    idle = Span(share, max(share - own, 0.0) / (1 - own), min(share / (1 - own), 1.0))
    of_one = finding.rank is not None and finding.regime != "straggler" and time.ranks > 1
    part = time.steps_frac / time.ranks if of_one else time.steps_frac
    words = f"{format_frac(share)} of a step is idle for it, and steps take {format_frac(time.steps_frac)} of the time"
    if of_one:
        words += f"; counted for one of {time.ranks} ranks"
    return known(paid * idle.scaled(part), money.unit, "modelled", words)
