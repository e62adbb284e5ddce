"""Which ranks are shown when there is no room for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.schema.report import RankReport, Report


def chosen_ranks(report: Report, most: int) -> tuple[RankReport, ...]:
    """Up to ``most`` ranks in their order: those that findings name, then the slowest by median."""
    named = {finding.rank for finding in report.findings if finding.rank is not None}
    order = sorted(report.ranks, key=lambda rank: (rank.rank not in named, -rank.steps.median_ms))
    keep = {id(rank) for rank in order[:most]}
    return tuple(rank for rank in report.ranks if id(rank) in keep)
