"""A comparison as text for a terminal, a job's log or a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table

from stepscope.report import palette
from stepscope.report.compare_spent import label_of, spent_sentence
from stepscope.report.compare_words import interval_sentence, sentence, slow_sentence
from stepscope.report.foreign import essential
from stepscope.report.terminal import print_sections
from stepscope.report.terminal.look import Look, labelled
from stepscope.report.words import BASES, part_word
from stepscope.units import format_ms

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import RenderableType

    from stepscope.report.compare import Comparison, Prediction, Side
    from stepscope.report.compare_rows import Change

MOST_CHANGES: Final = 5
_GOOD: Final = frozenset({"faster", "same"})
_HEADS: Final = {
    "faster": "FASTER",
    "slower": "SLOWER",
    "same": "NO REAL DIFFERENCE",
    "unproven": "NOT PROVEN",
    "not-comparable": "NOT COMPARABLE",
}


def print_comparison(
    comparison: Comparison, file: TextIO | None = None, width: int | None = None
) -> None:
    """Print a comparison as ``terminal.print_report`` prints a report."""

    def sections(look: Look) -> list[list[RenderableType]]:
        return [
            _head(comparison, look),
            _sides(comparison, look),
            _parts(comparison, look),
            _changes("Kernels", comparison.kernels, look),
            _changes("Operators on the host", comparison.operators, look),
            _findings(comparison, look),
        ]

    print_sections(sections, file, width)


def _head(comparison: Comparison, look: Look) -> list[RenderableType]:
    """The verdict."""
    style = "bold green" if comparison.verdict in _GOOD else "bold red"
    # The heading says it already: FASTER, and not "FASTER: the second is faster".
    text = sentence(comparison)
    rest = text if comparison.ratio is None else text.partition(": ")[2]
    head = look.say(f"{_HEADS[comparison.verdict]}: ", style)
    head.append_text(look.say(f"{rest}.", "bold"))
    return [head]


def _sides(comparison: Comparison, look: Look) -> list[RenderableType]:
    """Both sides, the interval and the loader."""
    one, other = comparison.before, comparison.after
    rows = [("Before", _side(one)), ("After", _side(other))]
    if comparison.ratio is not None:
        rows.append(("Certainty", interval_sentence(comparison.ratio)))
    if one.loader_wait_ms or other.loader_wait_ms:
        waits = f"from {format_ms(one.loader_wait_ms)} to {format_ms(other.loader_wait_ms)}"
        rows.append(("DataLoader", f"the wait goes {waits} a step"))
    rows += [(label_of(spent), spent_sentence(spent)) for spent in comparison.spent]
    return [labelled(look, [(label, look.say(text)) for label, text in rows])]


def _side(side: Side) -> str:
    """One side in a sentence."""
    head = f"{side.name} ({side.device}): "
    if not side.steps:
        return f"{head}no steps told apart, the window is {format_ms(side.median_ms)} long"
    slow = slow_sentence(side.slow)
    return (
        f"{head}{side.steps:,} {side.series}, median {format_ms(side.median_ms)}, mean "
        f"{format_ms(side.mean_ms)}{f'; {slow}' if slow else ''}"
    )


def _parts(comparison: Comparison, look: Look) -> list[RenderableType]:
    """Which parts of the step the difference comes from."""
    deltas = comparison.parts_delta_ms
    if deltas is None:
        return [look.say("One has a device timeline and the other has none: no parts to compare.")]
    shown = [(name, ms) for name, ms in deltas.items() if abs(ms) >= 1e-3]
    if not shown:
        return []
    longest = max(abs(ms) for _, ms in shown)
    room = max(look.width - 40, 8)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=15, no_wrap=True)
    table.add_column(width=10, justify="right", no_wrap=True)
    table.add_column(width=room, no_wrap=True)
    for name, ms in shown:
        label = part_word(name, has_device="compute" in deltas).label
        bar = look.bar(abs(ms) / longest, room)
        table.add_row(look.say(label), look.say(_signed(ms)), look.say(bar, palette.part(name)))
    total = _signed(sum(deltas.values()))
    heading = f"Where the difference comes from: of {total} in the mean step under the profiler"
    return [look.say(heading, "bold"), table]


def _signed(ms: float) -> str:
    """A difference with its sign."""
    return f"{'+' if ms > 0 else ''}{format_ms(ms)}"


def _changes(title: str, changes: tuple[Change, ...], look: Look) -> list[RenderableType]:
    """The largest changes of kernels or operators."""
    if not changes:
        return []
    room = max(look.width - 47, 16)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="")
    cut = f", {MOST_CHANGES} of {len(changes):,}" if len(changes) > MOST_CHANGES else ""
    table.add_column(look.say(look.cut(f"{title}{cut}", room), "bold"), width=room, no_wrap=True)
    for number in ("before", "after", "a step"):
        table.add_column(look.say(number, "dim"), justify="right", no_wrap=True, min_width=9)
    table.add_column(no_wrap=True, min_width=8)
    for change in changes[:MOST_CHANGES]:
        numbers = (
            "-" if change.fate == "appeared" else format_ms(change.before_ms),
            "-" if change.fate == "vanished" else format_ms(change.after_ms),
            _signed(change.delta_ms),
            "" if change.fate == "changed" else change.fate,
        )
        name = look.cut(essential(change.name), room)
        table.add_row(look.say(name), *(look.say(number) for number in numbers))
    return [table]


def _findings(comparison: Comparison, look: Look) -> list[RenderableType]:
    """Findings that are gone or new, and what became of promises."""
    rows = [("Gone", f"{f.code} {f.title}") for f in comparison.gone]
    rows += [("New", f"{f.code} {f.title}") for f in comparison.new]
    rows += [("Prediction", _prediction(promise)) for promise in comparison.predictions]
    if len(comparison.predictions) > 1:
        rows.append(("", "several changes at once: each promise is for its change alone"))
    return [labelled(look, [(label, look.say(text)) for label, text in rows])] if rows else []


def _prediction(promise: Prediction) -> str:
    """A promise beside what was measured."""
    gain = promise.gain
    word = "measured before" if gain.basis == "experiment" else "predicted"
    held = "inside" if promise.held else "outside"
    return (
        f"{promise.code} {word} {gain.low:.2f}x to {gain.high:.2f}x ({BASES.get(gain.basis, gain.basis)}), measured "
        f"now {promise.measured:.2f}x: {held} the range"
    )
