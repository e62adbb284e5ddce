"""Five times more memory was asked for than needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_bytes
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Five times more memory was asked for than needed."""
    if not seen.is_judged or seen.summary.job_id is None:
        return None
    for node in seen.summary.nodes:
        limit = node.memory_limit_bytes
        most = max(node.rss_peak_bytes, 1)
        if limit is not None and limit > 5 * most and limit > 16 << 30:
            return Finding(
                code="WA024", regime="memory", severity="low", confidence="high",
                title=f"the job holds {format_bytes(limit)} on {node.node} and used {format_bytes(most)}",
                evidence=(
                    Evidence(name="limit", value=limit, unit="bytes"),
                    Evidence(name="peak of the processes", value=most, unit="bytes"),
                ),
                action="Ask for about one and a half times the peak: others can use the rest, and you may start sooner.",
                snippet=f"#SBATCH --mem={max(1, round(1.5 * most / 2**30))}G",
            )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA024",
    "memory asked and not used",
    "limit above 5 times the peak and above 16 GiB, in a job",
    "jobstats, Job Defense Shield",
    find,
)
