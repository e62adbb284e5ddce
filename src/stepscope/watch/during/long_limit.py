"""The job asked for ten times the time that it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """The job asked for ten times the time that it took."""
    limit, wall = seen.summary.time_limit_s, seen.summary.wall_s
    ended = seen.summary.complete and seen.summary.exit_status == 0
    if not seen.is_judged or limit is None or not ended or seen.summary.interactive:
        return None
    if limit < 3600 or wall > limit / 10:
        return None
    return Finding(
        code="WA028", regime="healthy", severity="low", confidence="high",
        title=f"the job asked for {limit / 3600:.1f} h and took {wall / 3600:.1f} h",
        evidence=(Evidence(name="used of the time limit", value=wall / limit, unit="frac"),),
        action="A shorter limit starts sooner: the scheduler can fit it into gaps.",
        snippet=f"#SBATCH --time={max(1, round(2 * wall / 3600))}:00:00",
    )  # fmt: skip


MISTAKE: Mistake[During] = Mistake(
    "WA028",
    "time limit too long",
    "used at most a tenth of a limit of an hour or more",
    "jobstats",
    find,
)
