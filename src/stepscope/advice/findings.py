"""Runs the rules over all ranks and keeps what a reader needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stepscope.advice import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.advice.base import Context
    from stepscope.schema.report import Finding

_FIRST = ("not-recorded", "device-unused")
_SEVERITY = {"high": 0, "medium": 1, "low": 2}


def findings_of(contexts: Sequence[Context]) -> tuple[Finding, ...]:
    """All findings, most important first.

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
        replace(finding, rank=facts.rank)
        for rule, finding in found
        if finding is not None and codes.isdisjoint(rule.explained_by)
    ]


def _worst(same: list[Finding], ranks: int) -> Finding:
    worst = max(same, key=lambda finding: finding.share_frac or 0.0)
    return replace(worst, rank=None) if len(same) == ranks else worst


def _order(finding: Finding) -> tuple[bool, float, int, str]:
    share = finding.share_frac if finding.share_frac is not None else -1.0
    return finding.regime not in _FIRST, -share, _SEVERITY[finding.severity], finding.code
