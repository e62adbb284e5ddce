"""Threads take turns on too few cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.during.figures import cores_used
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Threads take turns on too few cores."""
    if not seen.is_judged:
        return None
    for node in seen.summary.nodes:
        if node.cpu_pressure_frac is None or node.involuntary_switches is None or node.wall_s <= 0:
            continue
        rate = node.involuntary_switches / node.wall_s / max(node.cores, 1)
        full = cores_used(node) > 0.8 * node.cores
        if (
            node.cpu_pressure_frac > 0.25
            and rate > 100
            and full
            and node.threads_peak > 2 * node.cores
        ):
            return Finding(
                code="WA021", regime="host", severity="medium", confidence="medium",
                title=f"{node.threads_peak} threads take turns on {node.cores:g} core(s)",
                evidence=(
                    Evidence(name="time in which some task waited for a core", value=node.cpu_pressure_frac, unit="frac"),
                    Evidence(name="involuntary switches a second and core", value=rate, unit="/s"),
                ),
                action="Lower OMP_NUM_THREADS or num_workers until ranks x (threads + workers) fits the cores.",
                snippet="export OMP_NUM_THREADS=1",
            )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA021",
    "threads take turns",
    "CPU pressure above 25 %, more than 100 involuntary switches a second and core, more threads than twice the cores; our thresholds",
    "pytorch issue 64864",
    find,
)
