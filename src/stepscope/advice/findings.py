"""Runs the rules over all ranks, keeps what a reader needs and puts the verdict over it.

Every finding gets the gain that its rule names. A finding whose cure gains nothing in the replay is
contradicted by it: the time that it measured is real, but something else takes its place at once. Such a
finding is dropped, unless it is what the verdict speaks of, or names one rank of many; then it stays, lowered,
last and with that said.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from stepscope.advice import RULES
from stepscope.advice.base import NOT_PREDICTED, Context
from stepscope.advice.verdict import LEAST_SHARE, verdict_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.advice.base import Rule
    from stepscope.analysis.results import Results
    from stepscope.job.recorded_rank import RecordedRank
    from stepscope.job.waiting import Waiting
    from stepscope.predict import Gains
    from stepscope.schema.loader import LoaderReport
    from stepscope.schema.report import Finding, SourceLines, Verdict

_FIRST = ("not-recorded", "device-unused")
_SEVERITY = {"high": 0, "medium": 1, "low": 2}

LEAST_GAIN = 1.02
"""A cure that gains less at best is not worth a change."""

SURE_OF_NOTHING, LEAST_HOPE = 1.005, 1.05
"""Nor is one that may gain nothing, when at best it gains less than the second."""

LEAST_CERTAIN, MOST_WIDTH = 1.02, 1.3
"""A range that begins below the first and is wider than the second is told as a bound: at most so much."""

_NO_GAIN = (
    " By the replay, curing this alone gains nothing, because something else takes its place."
)


class Advice(Struct, frozen=True):
    """What the report says first.

    Attributes:
        verdict: The one sentence.
        findings: What to change, most important first.
        withheld: Ranks (positions) with a finding whose gain is not predicted because the replay is off.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    withheld: tuple[int, ...] = ()


def advise(
    ranks: Sequence[Results],
    gains: Sequence[Gains] = (),
    loaders: Sequence[LoaderReport] = (),
    waiting: Waiting | None = None,
    lines: Sequence[SourceLines | None] = (),
    runs: Sequence[RecordedRank] = (),
) -> Advice:
    """The verdict over all ranks, and the findings, those of the verdict's regime first.

    Args:
        ranks: The analyses of each rank.
        gains: What changes would gain on each, in the same order; empty when nothing was replayed.
        loaders: The loaders of all ranks, seen from inside; empty where no recorder saw them.
        waiting: Waiting of ranks for each other; ``None`` where it cannot be known.
        lines: Lines of code that hold each rank's time, in the same order; empty where nobody sampled them.
        runs: What a recorder knows of the ranks' runs; empty where none was there.
    """
    predicted = job_gains(gains) if gains else [NOT_PREDICTED] * len(ranks)
    contexts = [
        Context(one, len(ranks), waiting, gain, _feeding(one, loaders), seen, _run_of(one, runs))
        for one, gain, seen in zip(ranks, predicted, lines or [None] * len(ranks), strict=True)
    ]
    findings = findings_of(contexts)
    verdict = verdict_of(contexts, findings)
    ordered = sorted(
        findings,
        key=lambda f: (is_contradicted(f), f.regime not in (*_FIRST, verdict.regime)),
    )
    return Advice(verdict, tuple(ordered), _withheld(contexts))


def _feeding(one: Results, loaders: Sequence[LoaderReport]) -> LoaderReport | None:
    """The loader that training waited for most on a rank."""
    own = [loader for loader in loaders if loader.rank == (one.facts.rank or 0)]
    fed = [loader for loader in own if loader.role != "evaluation"]
    return max(fed, key=lambda loader: loader.wait_ms, default=None)


def _run_of(one: Results, runs: Sequence[RecordedRank]) -> RecordedRank | None:
    return next((run for run in runs if run.rank == (one.facts.rank or 0)), None)


def is_contradicted(finding: Finding) -> bool:
    """Whether the replay without what was found is no faster, or hardly and not surely."""
    gain = finding.gain
    if gain is None:
        return False
    is_little = gain.low < SURE_OF_NOTHING and gain.high < LEAST_HOPE
    return gain.high < LEAST_GAIN or is_little


def job_gains(gains: Sequence[Gains]) -> list[Gains]:
    """Ranks that arrive together gain what the one that waits longest gains: the job has one pace."""
    known = [one.together for one in gains if one.together is not None]
    most = max(known, key=lambda gain: gain.high, default=None)
    return [replace(one, together=most) for one in gains]


def _withheld(contexts: Sequence[Context]) -> tuple[int, ...]:
    return tuple(
        place
        for place, context in enumerate(contexts)
        if context.gains.withheld
        and any(rule.gain is not None and finding is not None for rule, finding in _found(context))
    )


def findings_of(contexts: Sequence[Context]) -> tuple[Finding, ...]:
    """All findings, those about the data first, then by what they save, or else by their share of the step.

    A finding that another explains is dropped on its rank. The same finding on several ranks is told
    once, by the rank where it holds most; its ``rank`` is ``None`` when all ranks have it.
    """
    found: dict[str, list[Finding]] = {}
    for context in contexts:
        for finding in _on_rank(context):
            found.setdefault(finding.code, []).append(finding)
    merged = [_worst(same, len(contexts)) for same in found.values()]
    return tuple(sorted(merged, key=_order))


def _on_rank(context: Context) -> list[Finding]:
    facts = context.results.facts
    found = _found(context)
    # What a contradicted finding explains is told in its place.
    known = {rule.code: one for rule, one in found if not is_contradicted(one)}
    return [
        finding if finding.rank is not None else replace(finding, rank=facts.rank)
        for rule, finding in found
        if not any(
            _saves_no_more(finding, known[code]) for code in rule.explained_by if code in known
        )
        and not any(
            _saves_as_much(known[code], finding) for code in rule.yields_to if code in known
        )
    ]


def _saves_no_more(finding: Finding, explanation: Finding) -> bool:
    """Whether nothing proves that curing a finding saves more than curing what explains it."""
    if finding.gain is None or explanation.gain is None:
        return True
    return finding.gain.low <= explanation.gain.high


def _found(context: Context) -> list[tuple[Rule, Finding]]:
    """What the rules find, with gains and without what the replay contradicts."""
    usable = context.results.facts.usable
    rules = [rule for rule in RULES if usable or not rule.needs_usable]
    both = [(rule, rule.find(context)) for rule in rules]
    with_gain = [(rule, _with_gain(rule, one, context)) for rule, one in both if one is not None]
    return [(rule, one) for rule, one in with_gain if one is not None]


def _saves_as_much(one: Finding, other: Finding) -> bool:
    """Whether the replay shows that curing one finding saves at least what curing the other surely does."""
    return one.gain is not None and other.gain is not None and one.gain.low >= other.gain.low > 0


def _with_gain(rule: Rule, finding: Finding, context: Context) -> Finding | None:
    gain = rule.gain(context) if rule.gain is not None else None
    if gain is None:
        return finding
    if gain.low < LEAST_CERTAIN and gain.high > MOST_WIDTH * gain.low:
        gain = replace(gain, basis="bound")
    finding = replace(finding, gain=gain)
    if not is_contradicted(finding):
        return finding
    # A rank that is late was measured against the others, and stays worth knowing.
    if (finding.share_frac or 0.0) < LEAST_SHARE and finding.rank is None:
        return None
    return replace(finding, severity="low", confidence="low", action=finding.action + _NO_GAIN)


def _worst(same: list[Finding], ranks: int) -> Finding:
    worst = max(same, key=lambda finding: finding.share_frac or 0.0)
    named = worst.rank is not None and {finding.rank for finding in same} == {worst.rank}
    return worst if len(same) < ranks or (named and ranks > 1) else replace(worst, rank=None)


def _order(finding: Finding) -> tuple[bool, float, int, str]:
    saved = finding.share_frac if finding.share_frac is not None else -1.0
    if finding.gain is not None:
        saved = 1 - 1 / math.sqrt(finding.gain.low * finding.gain.high)
    return finding.regime not in _FIRST, -saved, _SEVERITY[finding.severity], finding.code
