"""Health of the text: what was repaired, lost or left out while a file was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.trace.file import TraceFile

    Say = Callable[[str, int, str], None]


def say_all(file: TraceFile, say: Say) -> None:
    """Says it, each thing once with a count and a place."""
    _say_text(file, say)
    _say_events(file, say)


def _say_text(file: TraceFile, say: Say) -> None:
    if file.truncated:
        lost = (
            f"an unfinished event of {format_bytes(file.lost_bytes)} was left out"
            if file.lost_bytes
            else "nothing of it was unfinished"
        )
        say(
            "truncated",
            file.lost_bytes,
            f"{file.path} ends before its time; the {file.complete} whole events were read, {lost}, and how "
            "many are missing cannot be known.",
        )
    if file.trailing_junk:
        say(
            "trailing-junk",
            file.trailing_junk,
            f"{file.path} goes on behind its compressed trace with something else, which was not read.",
        )
    if file.header.salvaged:
        say(
            "header-repaired",
            1,
            f"The header of {file.path} is not valid JSON; only the keys that matter were picked out.",
        )
    if file.header.more_events:
        say(
            "more-events",
            file.header.more_events,
            f"{file.path} holds {file.header.more_events} more events behind the end of its list, which were not read; "
            "it may be several traces written into one file.",
        )
    mended, dropped = file.repairs.mended, file.repairs.dropped
    if mended:
        say(
            "repaired",
            mended,
            f"{mended} events in {file.path} were not valid JSON and were repaired, the first at "
            f"$.traceEvents[{file.repairs.first_mended}].",
        )
    if dropped:
        say(
            "unreadable-events",
            dropped,
            f"{dropped} events in {file.path} could not be read and are missing, the first at "
            f"$.traceEvents[{file.repairs.first_dropped}].",
        )


def _say_events(file: TraceFile, say: Say) -> None:
    dropped = file.tables.dropped
    if dropped.total:
        say(
            "unusable-events",
            dropped.total,
            f"{dropped.total} of {file.complete} events in {file.path} have no usable time and were left out "
            f"({dropped.no_time} without a time, {dropped.zero_time} at time 0, {dropped.negative} of negative "
            f"and {dropped.absurd} of absurd length or place).",
        )
    if dropped.clipped:
        say(
            "clipped-events",
            dropped.clipped,
            f"{dropped.clipped} kernels, copies or sets in {file.path} last longer than can be true (they overrun "
            "their successors on the same stream, or everything else) and were cut there.",
        )
    if file.unknown:
        count = sum(file.unknown.values())
        most = max(file.unknown, key=lambda c: file.unknown[c])
        say(
            "unknown-category",
            count,
            f"{count} events in {file.path} have a category that is not known (most of them {most!r}) and count "
            "neither as host nor as device work.",
        )
    if file.long_names:
        say("long-names", file.long_names, f"{file.long_names} names in {file.path} were cut.")
