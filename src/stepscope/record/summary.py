"""What stepscope says when the script has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.units import format_bytes, format_frac, format_ms, ns_to_ms

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.run_folder import RankRecording, WindowRecord


def summary_of(recording: RankRecording, folder: Path) -> list[str]:
    """A few sentences about what was recorded, and where it is."""
    lines = [notice.text for notice in recording.notices]
    window, clean = recording.window, recording.clean_step_ns
    if window is not None:
        last = window.first_step + len(window.steps_ns) - 1
        lines.append(
            f"profiled steps {window.first_step} to {last}{_inflation(recording)}{_size(window)}"
        )
    if clean is not None:
        count = len(recording.clean_steps_ns)
        lines.append(
            f"{count} steps without the profiler took {format_ms(ns_to_ms(clean))} each (median)"
        )
    lines.append(f"run folder {folder}")
    return lines


def _inflation(recording: RankRecording) -> str:
    inflation = recording.inflation_frac
    if inflation is None:
        return ""
    if inflation < 0.005:
        return ", which took no longer than without the profiler"
    return f", which took {format_frac(inflation)} longer than without the profiler"


def _size(window: WindowRecord) -> str:
    """The size of the trace beside the one that was expected."""
    if window.expected_bytes is None or window.trace_bytes is None:
        return ""
    sizes = format_bytes(window.trace_bytes), format_bytes(window.expected_bytes)
    return "; their trace takes {}, {} were expected".format(*sizes)
