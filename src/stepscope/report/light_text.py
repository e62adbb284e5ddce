"""A run of which only step times are known, as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.report.foreign import printable
from stepscope.report.job_words import PATTERNS
from stepscope.schema.light import ALL_PARTS
from stepscope.units import format_frac, format_ms

if TYPE_CHECKING:
    from stepscope.schema.light_report import LightRank, LightReport

MOST_RANKS = 8
"""With more ranks than this, only those with the longest time of their own are told one by one."""

LEAST_TREND = 0.05
"""Steps that change by less than this share over the run stay the same."""

SLOW = 1.5
"""A step is told as slow when it takes so many times the median."""

PART_WORDS = {
    "input": "waiting for the DataLoader",
    "forward": "forward pass",
    "backward": "backward pass",
    "sync": "waiting for other ranks",
    "optimizer": "optimizer",
    "apart": "evaluation and checkpoints",
    "host": "Python and rest",
}

CAUSE_WORDS = {
    "input": "it waits for its data",
    "compute": "it computes longer",
    "host": "its Python code takes longer",
    "evaluation or checkpoint": "it evaluates or saves alone",
}


def light_text(report: LightReport) -> str:
    """The whole report."""
    lines = [f"Steps of the whole run, without a profiler: {_head(report)}", ""]
    lines += _table(report)
    lines += ["", *rank_lines(report)]
    lines += [
        f"Slow     step {slow.number:,} took {format_ms(slow.ms)} on rank {slow.rank}"
        + (
            f", {format_ms(slow.part_ms)} of it {PART_WORDS[slow.part]}"
            if slow.part is not None and slow.part_ms is not None
            else ""
        )
        for slow in report.slowest[:3]
        if slow.ms >= SLOW * report.ranks[0].median_ms
    ]
    return "\n".join(lines) + "\n"


def rank_lines(report: LightReport) -> list[str]:
    """What only several ranks together tell, and what is odd about them."""
    lines = [f"Late     {line}" for line in late_words(report)]
    lines += [f"Note     {printable(text)}" for text in report.notices]
    return lines + [f"Not told {text}" for text in report.cannot_tell]


def late_words(report: LightReport) -> list[str]:
    """Who is late and by what, or why that is not said."""
    late = report.straggler
    if len(report.ranks) < 2:
        return []
    if late is None:
        return [] if report.cannot_tell else [f"no rank{_turns(report)}"]
    who = f"rank {late.rank} on {printable(late.host or '')}"
    if late.node is not None:
        who = f"the ranks of {printable(late.node)}"
    if not late.is_named:
        said = (
            f"no rank stands out; most often it is {who}, with {format_frac(late.share)} of the waiting, which costs "
            f"{format_ms(late.loss_ms)} a step ({format_frac(late.loss_frac)}){_turns(report)}"
        )
        return [said]
    pattern = f" ({PATTERNS[late.pattern]})" if late.pattern in PATTERNS else ""
    said = (
        f"{who} is waited for: {format_ms(late.loss_ms)} a step, {format_frac(late.loss_frac)} of it, to blame in "
        f"{late.steps:,} of {late.all_steps:,} steps{pattern}"
    )
    longer = [
        f"{PART_WORDS[part]} {format_ms(ms)} longer"
        for part, ms in sorted(report.excess_ms.items(), key=lambda pair: -pair[1])[:3]
        if ms >= 0.1 * max(report.excess_ms.values())
    ]
    why = CAUSE_WORDS.get(report.cause or "", "no part of its step explains it alone")
    return [said, f"{why}: {', '.join(longer)} than the others"]


def _turns(report: LightReport) -> str:
    if report.waiting_ms is None:
        return ""
    return f"; a rank waits {format_ms(report.waiting_ms)} a step for others, on average"


def _head(report: LightReport) -> str:
    first = report.ranks[0]
    rate = 1000 / first.mean_ms if first.mean_ms else 0.0
    of = (
        f"{len(report.ranks)} of {report.world_size} ranks"
        if report.world_size > 1
        else "1 process"
    )
    steps = max(rank.steps for rank in report.ranks)
    return f"{of}, {steps:,} steps, {rate:.4g} a second, median {format_ms(first.median_ms)}{trend_words(first.trend_frac)}"


def trend_words(trend: float | None) -> str:
    """How steps change over the run; ``""`` where that is not known or nothing."""
    if trend is None or abs(trend) < LEAST_TREND:
        return ""
    return f", {format_frac(abs(trend))} {'longer' if trend > 0 else 'shorter'} at the end than at the beginning"


def _table(report: LightReport) -> list[str]:
    """Mean steps by part; of many ranks those with the longest time of their own."""
    ranks = sorted(report.ranks, key=_own_ms, reverse=True)[:MOST_RANKS]
    shown = sorted(ranks, key=lambda rank: rank.rank)
    parts = [part for part in ALL_PARTS if any(rank.parts_ms[part] > 0 for rank in shown)]
    label = "host" if "forward" in parts else "host+fwd"
    names = [label if part == "host" else part for part in parts]
    lines = ["         " + "  ".join(f"{name:>9}" for name in ("mean step", *names))]
    for rank in shown:
        times = [rank.mean_ms, *(rank.parts_ms[part] for part in parts)]
        cells = [format_ms(ms) if ms else "-" for ms in times]
        lines.append(f"rank {rank.rank:<4}" + "  ".join(f"{cell:>9}" for cell in cells))
    if len(shown) < len(report.ranks):
        lines.append(f"and {len(report.ranks) - len(shown)} more ranks, whose own time is shorter")
    return lines


def _own_ms(rank: LightRank) -> float:
    return rank.mean_ms - rank.parts_ms["sync"]
