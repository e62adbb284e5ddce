"""Memory ran short: processes were killed, lie in swap or were held back, all waited for memory, or the limit is near."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.during.figures import limit_of
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


SWAPPED_BYTES = 100_000_000
"""Less than this in swap is what a kernel puts aside of programs that sleep."""


def find(seen: During) -> Finding | None:
    """Memory ran short: processes were killed, lie in swap or were held back, all waited for memory, or the limit is near."""
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
        held = seen.is_judged and bool(node.held_back)
        swapped = seen.is_judged and (node.swap_peak_bytes or 0) > SWAPPED_BYTES
        if not (killed or pressed or near or held or swapped):
            continue
        what = "memory is nearly used up"
        if killed:
            what = f"{node.oom_kills} process(es) were killed for want of memory"
        elif swapped:
            what = "part of the job lies in swap"
        return Finding(
            code="WA023", regime="memory", severity="high", confidence="high",
            title=f"{what} on {node.node}",
            evidence=(
                Evidence(name="peak of the processes over the limit", value=share, unit="frac"),
                Evidence(name="time in which all waited for memory", value=node.memory_pressure_frac, unit="frac"),
                Evidence(name="most in swap", value=node.swap_peak_bytes, unit="bytes"),
                Evidence(name="times held back at the soft limit", value=node.held_back, unit="count"),
                Evidence(name="limit", value=limit, unit="bytes"),
            ),
            action="Ask for more memory, or hold less: fewer loader workers, a smaller prefetch_factor, memory-mapped data.",
            snippet="#SBATCH --mem=...",
        )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA023",
    "memory short",
    "a process killed for want of memory, memory pressure (full) above 1 %, processes above 95 % of the limit, more than 100 MB of them in swap (our threshold), or held back at memory.high",
    "kernel documentation of PSI; jobstats",
    find,
)
