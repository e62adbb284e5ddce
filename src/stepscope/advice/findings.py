"""Runs the rules over all ranks, keeps what a reader needs and puts the verdict over it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stepscope.advice import RULES
from stepscope.advice.base import Context
from stepscope.advice.verdict import verdict_of
from stepscope.analysis.waiting import waiting_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.analysis.results import Results
    from stepscope.schema.report import Finding, Verdict

_FIRST = ("not-recorded", "device-unused")
_SEVERITY = {"high": 0, "medium": 1, "low": 2}


@dataclass(frozen=True, slots=True)
class Advice:
    """What the report says first.

    Attributes:
        verdict: The one sentence.
        findings: What to change, most important first.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]


def advise(ranks: Sequence[Results]) -> Advice:
    """The verdict over all ranks, and the findings, those of the verdict's regime first."""
    waiting = waiting_between(ranks)
    contexts = [Context(one, len(ranks), waiting) for one in ranks]
    findings = findings_of(contexts)
    verdict = verdict_of(contexts, findings)
    ordered = sorted(findings, key=lambda f: f.regime not in (*_FIRST, verdict.regime))
    return Advice(verdict, tuple(ordered))


def findings_of(contexts: Sequence[Context]) -> tuple[Finding, ...]:
    """All findings, those about the data first, then by their share of the step.

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
    rules = [rule for rule in RULES if facts.usable or not rule.needs_usable]
    found = [(rule, rule.find(context)) for rule in rules]
    codes = {rule.code for rule, finding in found if finding is not None}
    return [
        finding if finding.rank is not None else replace(finding, rank=facts.rank)
        for rule, finding in found
        if finding is not None and codes.isdisjoint(rule.explained_by)
    ]


def _worst(same: list[Finding], ranks: int) -> Finding:
    worst = max(same, key=lambda finding: finding.share_frac or 0.0)
    named = worst.rank is not None and {finding.rank for finding in same} == {worst.rank}
    return worst if len(same) < ranks or (named and ranks > 1) else replace(worst, rank=None)


def _order(finding: Finding) -> tuple[bool, float, int, str]:
    share = finding.share_frac if finding.share_frac is not None else -1.0
    return finding.regime not in _FIRST, -share, _SEVERITY[finding.severity], finding.code
