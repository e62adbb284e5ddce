"""What is kept of one rank: small, picklable, enough for the report and for comparing ranks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from stepscope.analysis import summary
from stepscope.analysis.results import run_all
from stepscope.job.lines import samples_of, source_lines, with_lines
from stepscope.predict import Gains, Setting, gains

if TYPE_CHECKING:
    from stepscope.analysis.results import Results
    from stepscope.schema.notice import Notice
    from stepscope.schema.report import RankReport
    from stepscope.trace.model import Trace


class RankDigest(Struct, frozen=True, kw_only=True, eq=False):
    """One rank without its tables.

    Attributes:
        results: All its analyses.
        gains: What changes would gain on it.
        report: Its story as the report tells it.
        notices: What reading and analysing found odd.
        host_name: The machine; ``None`` where not recorded.
        clock: ``epoch`` or ``relative``, as in the trace.
        rank_source: What told the rank, as in the trace.
    """

    results: Results
    gains: Gains
    report: RankReport
    notices: tuple[Notice, ...]
    host_name: str | None
    clock: str
    rank_source: str

    @property
    def rank(self) -> int | None:
        """Its number; ``None`` when nothing tells it."""
        return self.results.facts.rank

    def as_rank(self, rank: int | None, source: str) -> RankDigest:
        """The same under the number that the set of all files gives it."""
        if (rank, source) == (self.rank, self.rank_source):
            return self
        facts = replace(self.results.facts, rank=rank)
        notices = [n if n.rank is None else dataclasses.replace(n, rank=rank) for n in self.notices]
        return replace(
            self,
            results=replace(self.results, facts=facts),
            report=replace(self.report, rank=rank),
            notices=tuple(notices),
            rank_source=source,
        )

    def without_timeline(self) -> RankDigest:
        """The same without the bars of its typical step, which are most of its size."""
        return replace(
            self,
            results=replace(self.results, timeline=None),
            report=replace(self.report, timeline=None),
        )


def digest_of(trace: Trace, setting: Setting | None = None) -> RankDigest:
    """Runs every analysis on one rank, replays it, and keeps what is small.

    Args:
        trace: The rank's tables.
        setting: What its recorder measured; ``None`` for a trace of somebody else.
    """
    results = run_all(trace)
    samples = samples_of(trace)
    lines = source_lines(trace, samples) if samples is not None else None
    if samples is not None:
        results = replace(results, sync=with_lines(results.sync, samples))
    # Only the matching needs every call.
    results = replace(results, sync=replace(results.sync, calls=()))
    found = gains(trace, results, setting, with_path=True)
    story = summary.rank_report(trace, results)
    return RankDigest(
        results=results,
        gains=replace(found, path=None, no_path=""),
        report=replace(story, lines=lines, path=found.path, path_reason=found.no_path),
        notices=(*trace.notices, *summary.notices(results)),
        host_name=trace.meta.host_name,
        clock=trace.meta.clock,
        rank_source=trace.meta.rank_source,
    )
