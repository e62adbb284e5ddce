"""The rows as text, and what they come to."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clinic.case import Row

HEAD = ("case", "planted", "how", "must name", "named first", "predicted", "measured", "held")


def lines(rows: Sequence[Row]) -> list[str]:
    """A Markdown table."""
    cells = [HEAD, tuple("---" for _ in HEAD), *(_cells(row) for row in rows)]
    return ["| " + " | ".join(one) + " |" for one in cells]


def totals(rows: Sequence[Row]) -> list[str]:
    """What the rows come to, one sentence a line."""
    planted = [row for row in rows if row.code]
    healthy = [row for row in rows if not row.code]
    held = [row for row in planted if row.is_held]
    ranged = [row for row in planted if row.is_held is not None]
    widths = [row.width for row in ranged if row.width is not None]
    return [
        f"- {sum(row.is_named for row in planted)} of {len(planted)} planted causes are named first.",
        f"- {sum(row.is_named for row in healthy)} of {len(healthy)} healthy runs have no finding.",
        (
            f"- {len(held)} of {len(planted)} measured gains lie in the predicted range, "
            f"{len(planted) - len(ranged)} have no range."
        ),
        f"- The median range is {statistics.median(widths):.2f} wide (high over low)."
        if widths
        else "- There is no range.",
    ]


def _cells(row: Row) -> tuple[str, ...]:
    held = {None: "-", True: "yes", False: "no"}[row.is_held]
    return (
        row.name,
        row.plant or "nothing",
        row.where,
        row.code or "nothing",
        (row.found[0] if row.found else "nothing") + ("" if row.is_named else " (missed)"),
        "-" if row.low is None or row.high is None else f"{row.low:.2f} to {row.high:.2f}",
        "-" if row.measured is None else f"{row.measured:.2f}",
        held,
    )
