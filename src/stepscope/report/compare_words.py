"""A comparison in one sentence, and as JSON for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from stepscope.units import format_frac, format_ms

if TYPE_CHECKING:
    from stepscope.report.compare import Comparison, Side, SlowStep
    from stepscope.report.compare_stats import Ratio

MOST_SLOW: Final = 4
"""So many slow steps are named one by one; the others are counted."""


def sentence(comparison: Comparison) -> str:
    """The verdict with its figures and, where it is not certain, the reason."""
    ratio, one, other = comparison.ratio, comparison.before, comparison.after
    if ratio is None:
        return (
            "only one of the two has steps that could be told apart, so their times cannot be "
            "held against each other"
        )
    figures = _figures(ratio, one, other)
    if comparison.verdict in ("faster", "slower"):
        return f"the second is {comparison.verdict}: {figures}"
    if comparison.verdict == "same":
        return f"no real difference: {figures}; {doubt_sentence(comparison)}"
    word = "faster" if ratio.headline > 1 else "slower"
    return f"not proven: the second looks {word}, {figures}, but {doubt_sentence(comparison)}"


_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def doubt_sentence(comparison: Comparison) -> str:
    """Why a difference is not believed, to stand behind its figures."""
    doubt = comparison.ratio.doubt if comparison.ratio is not None else ""
    fewest = min(comparison.before.steps, comparison.after.steps)
    if doubt == "few" and not fewest:
        return "windows without steps prove nothing about a step"
    count = _NUMBERS[fewest] if fewest < len(_NUMBERS) else str(fewest)
    words = {
        "few": f"{count} step{'' if fewest == 1 else 's'} a side do not prove "
        + ("one" if comparison.verdict == "same" else "it"),
        "spread": "the spread between steps is as large",
        "small": "it is below one per cent",
        "correlation": "neighbouring steps hang together, so that these count for too few",
        "drift": "the halves of a single run differ as much",
    }
    return words.get(doubt, "")


def _figures(ratio: Ratio, one: Side, other: Side) -> str:
    """Both ratios with the times behind the one that counts."""
    what = "a step" if one.steps else "for the window"
    longer = 1 / ratio.headline - 1
    more = f", {format_frac(longer)} longer" if longer >= 0.005 else ""
    medians = f"{ratio.median:.2f}x by medians", (one.median_ms, other.median_ms)
    means = f"{ratio.mean:.2f}x by means", (one.mean_ms, other.mean_ms)
    (first, times), (second, _) = (medians, means) if ratio.by == "medians" else (means, medians)
    figures = f"{first} ({format_ms(times[0])} to {format_ms(times[1])} {what}{more}), {second}"
    return figures if ratio.by == "medians" else f"{figures}, which say little of uneven steps"


def slow_sentence(steps: tuple[SlowStep, ...]) -> str:
    """The slow steps by number; empty when there are none."""
    if not steps:
        return ""
    named = [f"step {s.number} ({format_ms(s.ms)}, {s.ratio:.2f}x the median)" for s in steps]
    more = len(named) - MOST_SLOW
    shown = ", ".join(named[:MOST_SLOW])
    count = f"{len(named)} slow step{'' if len(named) == 1 else 's'}"
    return f"{count}: {shown}{f' and {more} more' if more > 0 else ''}"


def interval_sentence(ratio: Ratio) -> str:
    """How sure the ratio that counts is."""
    if ratio.interval is None:
        return "too few steps for an interval"
    low, high = ratio.interval
    drift = (
        ""
        if ratio.drift_frac is None
        else f"; the halves of one run differ by up to {format_frac(ratio.drift_frac)}"
    )
    return (
        f"{low:.2f}x to {high:.2f}x for the ratio of {ratio.by} (95 %, from the spread between steps; "
        f"it does not know how one run differs from the next){drift}"
    )


def to_json(comparison: Comparison) -> bytes:
    """The comparison as JSON: ``verdict``, ``certain``, the ratios, their interval, the parts, and more."""
    ratio = comparison.ratio
    document = {
        "verdict": comparison.verdict,
        "certain": comparison.certain,
        "ratio_median": None if ratio is None else ratio.median,
        "ratio_mean": None if ratio is None else ratio.mean,
        "by": None if ratio is None else ratio.by,
        "interval": None if ratio is None else ratio.interval,
        "parts_delta_ms": comparison.parts_delta_ms,
        "sentence": sentence(comparison),
        "before": comparison.before,
        "after": comparison.after,
        "kernels": comparison.kernels,
        "operators": comparison.operators,
        "findings_gone": [finding.code for finding in comparison.gone],
        "findings_new": [finding.code for finding in comparison.new],
        "predictions": comparison.predictions,
        "spent": comparison.spent,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
