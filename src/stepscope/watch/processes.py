"""The watched processes one by one: those that use the processor most, in rows and in the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.samples import ProcessSample
from stepscope.schema.watch_summary import ProcessUse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stepscope.watch.proc_file import ProcessReading

MOST_ROWS = 16
"""So many processes are told each time: a trainer and its loader workers."""
LEAST_S, MOST_S = 5.0, 60.0
"""Time between two tellings: short at the start, longer in long runs, so that a day stays small."""
GROWTH = 0.05
"""It grows by this share of the time that has passed."""


class ProcessRows:
    """Rows of processes from time to time, also of those that have ended since the last time."""

    def __init__(self) -> None:
        self._due_s = 0.0
        self._seen: dict[tuple[int, int], ProcessSample] = {}

    def of(
        self, at_s: float, readings: Sequence[ProcessReading], *, is_last: bool = False
    ) -> tuple[ProcessSample, ...]:
        """A row for each of those that used most since they began; none while it is not time yet.

        Args:
            at_s: Seconds after the start.
            readings: All processes that there are.
            is_last: Whether there is no other time.
        """
        for one in readings:
            self._seen[one.pid, one.started] = ProcessSample(
                at_s=at_s,
                pid=one.pid,
                name=one.name,
                cpu_s=one.own_s,
                rss_bytes=one.rss_bytes,
                threads=one.threads,
            )
        if at_s < self._due_s and not is_last:
            return ()
        self._due_s = at_s + min(max(LEAST_S, GROWTH * at_s), MOST_S)
        dearest = sorted(self._seen.values(), key=lambda row: (-row.cpu_s, row.pid))
        self._seen.clear()
        return tuple(dearest[:MOST_ROWS])


def uses_of(rows: Sequence[ProcessSample], *, attached: bool) -> tuple[ProcessUse, ...]:
    """What each process used while it was watched, dearest first.

    Args:
        rows: Rows of one watcher, in order of time.
        attached: Whether the processes of the first rows had been running before the watch.
    """
    found: dict[int, list[ProcessSample]] = {}
    for row in rows:
        found.setdefault(row.pid, []).append(row)
    began_s = rows[0].at_s if rows and attached else -1.0
    uses = [use_of(some, began_s) for some in found.values()]
    return tuple(sorted(uses, key=lambda use: (-use.cpu_s, use.pid)))


def use_of(rows: Sequence[ProcessSample], began_s: float) -> ProcessUse:
    """One process's use from its rows; one that was there at the beginning had used some before."""
    first, last = rows[0], rows[-1]
    before = first.cpu_s if first.at_s <= began_s else 0.0
    return ProcessUse(
        pid=last.pid,
        name=last.name,
        cpu_s=max(last.cpu_s - before, 0.0),
        rss_peak_bytes=max(row.rss_bytes for row in rows),
        threads_peak=max(row.threads for row in rows),
    )


def dearest_of(each: Iterable[tuple[ProcessUse, ...]], most: int) -> tuple[ProcessUse, ...]:
    """The dearest of all watchers of a node."""
    uses = [use for some in each for use in some]
    return tuple(sorted(uses, key=lambda use: (-use.cpu_s, use.pid))[:most])
