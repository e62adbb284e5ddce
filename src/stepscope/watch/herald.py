"""A word while the run goes on: an obvious mistake is told when it can be judged, not when all is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.errors import InputError
from stepscope.units import format_ms
from stepscope.watch.during.seen import LEAST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.schema.report import Finding
    from stepscope.schema.watch_summary import WatchSummary

LATER = 1.5
"""Each look comes when the run is so many times as old as at the one before, so that there are few."""
AT_END_ONLY = frozenset({"WA024", "WA028"})
"""What cannot be known before the end: most memory, and the time."""


class Herald:
    """Looks at a run from its fifth minute on, and tells each severe mistake once.

    Args:
        summarise: Gives the summary of what was written until now.
        say: Tells a text.
    """

    def __init__(self, summarise: Callable[[], WatchSummary], say: Callable[[str], object]) -> None:
        self._summarise, self._say = summarise, say
        self._due_s = LEAST_SECONDS
        self._told: set[str] = set()

    def look(self, at_s: float) -> None:
        """Looks if it is time.

        Args:
            at_s: Age of the run in seconds.
        """
        if at_s < self._due_s:
            return
        self._due_s = at_s * LATER
        try:
            summary = self._summarise()
        except (OSError, InputError):
            # The folder has gone, which whoever writes there has said.
            return
        for finding in summary.findings:
            if self._is_news(finding):
                self._told.add(finding.code)
                self._say(words(finding, at_s))

    def _is_news(self, finding: Finding) -> bool:
        severe = finding.severity == "high" and finding.code not in AT_END_ONLY
        return severe and finding.code not in self._told


def words(finding: Finding, at_s: float) -> str:
    """A mistake as it is told in the middle of a run: what, and what to do."""
    lines = [
        f"after {format_ms(at_s * 1e3)}: {finding.title} ({finding.code}).",
        finding.action,
        *(f"  {line}" for line in finding.snippet.splitlines()),
    ]
    return "\n           ".join(lines)
