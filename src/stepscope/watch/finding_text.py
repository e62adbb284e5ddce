"""Findings of a watch or a check as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stepscope.schema.report import Finding


def finding_lines(findings: Iterable[Finding]) -> list[str]:
    """Each finding with its evidence and what to type instead."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.code} {finding.severity}: {finding.title}.")
        facts = [f"{row.name} {format_value(row.value, row.unit)}" for row in finding.evidence]
        lines.append(f"      {', '.join(facts)}")
        lines.append(f"      {finding.action}")
        lines += [f"        {line}" for line in finding.snippet.splitlines()]
    return lines
