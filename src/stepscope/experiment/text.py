"""An experiment as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.units import format_ms

if TYPE_CHECKING:
    from stepscope.experiment.outcome import Experiment, Measured

HEAD = ("change", "measured", "95 % interval", "predicted", "losses", "")


def lines_of(done: Experiment) -> list[str]:
    """The table, and what to write into the script."""
    rows = [HEAD, *(_cells(one) for one in done.changes)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    out = [
        f"{format_ms(done.base_step_ms)} a step without a change; {done.seconds:.0f} s of trials",
        "",
        *("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows),
        "",
    ]
    notes = sorted({one.note for one in done.changes if one.note})
    best = [one for one in done.changes if one.is_gain]
    if not best:
        return [*out, *notes, "No change makes the steps certainly shorter."]
    out.append("Write into the script:")
    for one in best:
        doubt = "  # losses differ: check that it still learns" if one.losses_alike is False else ""
        out.append(f"  {one.lines}  # {one.gain:.2f}x{doubt}")
    return [*out, *notes]


def _cells(one: Measured) -> tuple[str, ...]:
    losses = {True: "alike", False: "differ", None: "not seen"}[one.losses_alike]
    held = {True: ", held", False: ", missed", None: ""}[one.is_held]
    ends = {"no difference": "no gain", "budget": "not certain", "failed": "failed"}
    return (
        one.name,
        "-" if one.gain is None else f"{one.gain:.2f}x by {one.by}",
        "-" if one.low is None else f"{one.low:.2f} to {one.high:.2f}",
        "-"
        if one.predicted_low is None
        else f"{one.predicted_low:.2f} to {one.predicted_high:.2f}{held}",
        losses,
        ends.get(one.end, ""),
    )
