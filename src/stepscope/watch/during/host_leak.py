"""Memory of the processes grows without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_bytes
from stepscope.watch.during.figures import how_soon, per_step, room_of, runs_out
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Memory of the processes grows without end."""
    if not seen.is_judged:
        return None
    for node in seen.summary.nodes:
        growth, room = node.rss_growth_bytes_per_s, room_of(node)
        if growth is None:
            continue
        left = None if room is None else room / growth
        return Finding(
            code="WA026", regime="memory", severity=how_soon(left), confidence="medium",
            title=f"memory on {node.node} grows by {format_bytes(growth * 60)} a minute{runs_out(seen, left)}",
            evidence=(
                Evidence(name="growth a minute", value=growth * 60, unit="bytes"),
                Evidence(name="growth a step", value=per_step(seen, growth), unit="bytes"),
                Evidence(name="in use at the end", value=node.rss_last_bytes, unit="bytes"),
                Evidence(name="still to be had then", value=room, unit="bytes"),
            ),
            action=(
                "Something is kept in each step: losses stored as tensors (use .item() or .detach()), lists that "
                "only grow, a data set that caches in every worker."
            ),
            snippet="total += loss.item()   # not: total += loss",
        )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA026",
    "host memory grows",
    "lowest values of ten equal parts rise steadily, by 50 MB and 2 % or more; our thresholds",
    "-",
    find,
)
