"""The shape that several rules share: something that recurs beside the steps holds a share of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.advice import host_between
from stepscope.advice.base import Rule, severity
from stepscope.predict.behind import NEAR
from stepscope.predict.whole_run import training_ms, with_less_of
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.advice.base import Context
    from stepscope.job.recorded_rank import RecordedRank
    from stepscope.predict import Behind
    from stepscope.schema.report import Gain
    from stepscope.schema.run_time import RunPart, RunParts

LEAST_TIMES = 2
"""What came up once may never come again."""

IN_EVERY = 0.5
"""What comes with every second step is a part of steps: the trace shows it, with its line, and that rule tells it."""

LEAST_STEPS = 20
"""In a shorter run a single event weighs more than it will."""


class PartOfRun(Struct, frozen=True, kw_only=True):
    """What to look for, from when on, and what to say.

    Attributes:
        part: The part of the run.
        what: It in words, as the evidence names it.
        one: One occurrence in words.
        count: How often it came up.
        least_share: Of the time that recurs.
        least_gone: Share of it that its cure surely takes away.
        action, snippet: As of the finding.
    """

    part: RunPart
    what: str
    one: str
    count: Callable[[RunParts], int]
    least_share: float
    least_gone: float
    action: str
    snippet: str


def _behind(run: RecordedRank, work: PartOfRun) -> Behind | None:
    """What one occurrence leaves behind in the steps that follow; ``None`` where the run does not show it."""
    return next((one for one in run.behind if one.part == work.part), None)


def _evidence(left: Behind, work: PartOfRun) -> Evidence:
    longer = "longer" if left.extra_ms >= 0 else "shorter"
    name = f"the {NEAR} steps behind one {work.one} together {longer} than others by"
    return Evidence(name=name, value=abs(left.extra_ms), unit="ms")


def rule_of(
    code: str, title: str, work: PartOfRun, doc: str, explained_by: tuple[str, ...] = ()
) -> Rule:
    """The rule that finds the part, with what the run gains without it."""

    def find(context: Context) -> Finding | None:
        run = context.run
        time = run.time if run is not None else None
        if run is None or time is None or run.steps < LEAST_STEPS or not context.steady_count:
            return None
        times, whole, own = work.count(time), training_ms(time), time.parts_ms.get(work.part, 0.0)
        if times < LEAST_TIMES or whole <= 0 or own < work.least_share * whole:
            return None
        if times >= IN_EVERY * run.steps and host_between.find(context) is not None:
            return None
        share, left = own / whole, _behind(run, work)
        return Finding(
            code=code,
            regime="host",
            severity=severity(share),
            title=title,
            evidence=(
                Evidence(
                    name=f"{work.what}, share of the run between its first and its last step",
                    value=share,
                    unit="frac",
                ),
                Evidence(name=f"{work.what} in the run", value=own, unit="ms"),
                Evidence(name=f"mean of one {work.one}", value=own / times, unit="ms"),
                Evidence(name="how often", value=times, unit="count"),
                *([_evidence(left, work)] if left is not None else []),
                Evidence(name="training steps in the run", value=run.steps, unit="count"),
            ),
            action=work.action,
            snippet=work.snippet,
            confidence="high",
        )

    def gain(context: Context) -> Gain | None:
        run = context.run
        if run is None or run.time is None:
            return None
        left = _behind(run, work), work.count(run.time)
        return with_less_of(run.time, run.steps, work.part, work.least_gone, left)

    return Rule(
        code, "host", title, find, doc, explained_by=explained_by, needs_usable=False, gain=gain
    )
