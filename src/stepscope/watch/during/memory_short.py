"""Memory ran short: processes were killed, all waited for memory, or the limit is near."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.during.figures import limit_of
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Memory ran short: processes were killed, all waited for memory, or the limit is near."""
    for node in seen.summary.nodes:
        limit = limit_of(node)
        most = node.rss_peak_bytes if node.pss_peak_bytes is None else node.pss_peak_bytes
        share = most / limit if limit else None
        killed = bool(node.oom_kills)
        pressed = seen.is_judged and (node.memory_pressure_frac or 0) > 0.01
        near = (
            seen.is_judged
            and node.pss_peak_bytes is not None
            and limit is not None
            and node.pss_peak_bytes > 0.95 * limit
        )
        if not (killed or pressed or near):
            continue
        what = (
            f"{node.oom_kills} process(es) were killed for want of memory"
            if killed
            else "memory is nearly used up"
        )
        return Finding(
            code="WA023", regime="memory", severity="high", confidence="high",
            title=f"{what} on {node.node}",
            evidence=(
                Evidence(name="peak of the processes over the limit", value=share, unit="frac"),
                Evidence(name="time in which all waited for memory", value=node.memory_pressure_frac, unit="frac"),
                Evidence(name="limit", value=limit, unit="bytes"),
            ),
            action="Ask for more memory, or hold less: fewer loader workers, a smaller prefetch_factor, memory-mapped data.",
            snippet="#SBATCH --mem=...",
        )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA023",
    "memory short",
    "a process killed for want of memory, memory pressure (full) above 1 %, or processes above 95 % of the limit",
    "kernel documentation of PSI; jobstats",
    find,
)
