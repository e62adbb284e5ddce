"""Sentences that terminal and page share, so that they say the same with the same denominators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from stepscope.report.words import BASES, GPU, SOURCES, Word
from stepscope.units import format_frac, format_ms, format_value

if TYPE_CHECKING:
    from stepscope.schema.report import Gain, Gpu, RankReport, Recording, Report, Steps

MOST_OUTLIERS = 3
"""So many slow steps are named one by one; the others are counted."""


class Share(Struct, frozen=True):
    """One part of a whole.

    Attributes:
        name: Key of the part.
        ms: Milliseconds.
        frac: Of the whole; 0 when the whole is 0.
    """

    name: str
    ms: float
    frac: float


class Whole(Struct, frozen=True):
    """Parts of a time span with the words for the span.

    Attributes:
        of: The denominator, for instance ``the mean step, 152.9 ms``.
        total_ms: The span.
        shares: Parts in their fixed order, those of no length left out.
    """

    of: str
    total_ms: float
    shares: tuple[Share, ...]


def has_steps(rank: RankReport) -> bool:
    """Whether steps could be told apart."""
    return rank.steps.count > 0


def has_device(rank: RankReport) -> bool:
    """Whether the parts of the rank's step are those of a device timeline."""
    return "compute" in rank.parts_ms


def whole_of(parts: dict[str, float], total_ms: float, name: str) -> Whole:
    """``parts`` as shares of ``total_ms``, whose denominator is called ``name``."""
    shares = tuple(
        Share(part, ms, ms / total_ms if total_ms > 0 else 0.0)
        for part, ms in parts.items()
        if ms != 0
    )
    return Whole(f"{name}, {format_ms(total_ms)}", total_ms, shares)


def step_whole(rank: RankReport) -> Whole:
    """Where a rank's step goes: of the steady step when start-up was recorded too, else of the mean one."""
    steps = rank.steps
    if not has_steps(rank):
        return whole_of(rank.parts_ms, steps.mean_ms, "the recorded window")
    steady = rank.steady_parts_ms
    if steady is not None and steps.steady_mean_ms is not None and steps.steady_count < steps.count:
        name = f"the mean of the {steps.steady_count} steady steps"
        return whole_of(steady, steps.steady_mean_ms, name)
    return whole_of(rank.parts_ms, steps.mean_ms, "the mean step")


def overview_whole(rank: RankReport) -> Whole:
    """The classic overview of a rank."""
    name = "the mean step" if has_steps(rank) else "the recorded window"
    return whole_of(rank.overview_ms, rank.steps.mean_ms, name)


def rank_name(rank: RankReport) -> str:
    """``rank 3``, or ``this process`` when the trace does not say."""
    return "this process" if rank.rank is None else f"rank {rank.rank}"


def focus(report: Report) -> RankReport:
    """The rank that a short rendering shows: the one that the first finding is about, else the first."""
    wanted = report.findings[0].rank if report.findings else None
    for rank in report.ranks:
        if wanted is not None and rank.rank == wanted:
            return rank
    return report.ranks[0]


def steps_sentence(steps: Steps) -> str:
    """How many steps, found by what, and their spread."""
    if not steps.count:
        return f"none could be told apart; the window is {format_ms(steps.mean_ms)} long"
    found = f"{steps.count:,}, found by {SOURCES[steps.source]}"
    partial = sum(steps.partial)
    if partial:
        found += f" ({partial} cut by the window)"
    return (
        f"{found}: mean {format_ms(steps.mean_ms)}, median {format_ms(steps.median_ms)}, "
        f"95th percentile {format_ms(steps.p95_ms)}"
    )


def startup_sentence(steps: Steps) -> str:
    """What start-up took; empty when none was recorded."""
    lengths = (
        [ms for ms, is_startup in zip(steps.durations_ms, steps.startup, strict=True) if is_startup]
        if steps.count
        else []
    )
    if not lengths:
        return ""
    if steps.steady_mean_ms is None:
        return f"all {len(lengths)} are start-up ({format_ms(sum(lengths))}); no steady step was recorded"
    return (
        f"{len(lengths)} of {steps.count} are start-up ({format_ms(sum(lengths))} together); the mean of the "
        f"{steps.steady_count} steady steps is {format_ms(steps.steady_mean_ms)}"
    )


def outliers_sentence(steps: Steps) -> str:
    """The slow and fast steps by position; empty when there are none."""
    if not steps.outliers:
        return ""
    base = steps.median_ms
    named = []
    for position in steps.outliers[:MOST_OUTLIERS]:
        ms = steps.durations_ms[position]
        ratio = f", {ms / base:.2f}x the median" if base > 0 else ""
        named.append(f"step {position + 1} ({format_ms(ms)}{ratio})")
    more = len(steps.outliers) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "")


NO_GAIN: Final = 1.02
"""A smaller gain, at best, is called none."""


def gain_sentence(gain: Gain) -> str:
    """A gain as a range of speed-ups and of mean step times, with what it rests on."""
    if gain.high < NO_GAIN and gain.basis != "experiment":
        return f"expected to gain nothing by itself ({BASES.get(gain.basis, gain.basis)})"
    # Both ends are of one step time, which may be that of the many steps without the profiler.
    now = format_ms(gain.low * gain.step_ms_high)
    if gain.basis == "bound":
        return (
            f"expected at most {gain.high:.2f}x, {format_ms(gain.step_ms_low)} in the mean step instead of "
            f"{now}; how much of it can be had is not known"
        )
    verb = "measured" if gain.basis == "experiment" else "expected"
    basis = "" if gain.basis == "experiment" else f" ({BASES.get(gain.basis, gain.basis)})"
    return (
        f"{verb} {gain.low:.2f}x to {gain.high:.2f}x: {format_ms(gain.step_ms_low)} to "
        f"{format_ms(gain.step_ms_high)} in the mean step instead of {now}{basis}"
    )


class Figure(Struct, frozen=True):
    """A device figure: its word, its value as text, and the number behind it."""

    word: Word
    text: str
    frac: float | None


def gpu_figures(gpu: Gpu) -> tuple[Figure, ...]:
    """The four figures of the classic GPU summary."""
    values = (
        ("busy", gpu.busy_frac),
        ("sm_efficiency", gpu.sm_efficiency_frac),
        ("occupancy", gpu.occupancy_frac),
        ("tensor_core", gpu.tensor_core_frac),
    )
    return tuple(Figure(GPU[name], format_value(frac, "frac"), frac) for name, frac in values)


def loader_sentence(rank: RankReport) -> str:
    """How long the DataLoader was waited for, over the file."""
    if not rank.loader_waits:
        return "no wait for a DataLoader was recorded"
    each = rank.loader_wait_ms / rank.loader_waits
    return (
        f"{format_ms(rank.loader_wait_ms)} in {rank.loader_waits:,} waits over the file, "
        f"{format_ms(each)} each"
    )


def recording_sentence(recording: Recording) -> str:
    """What the profiler itself changed: clean against profiled steps."""
    clean, profiled = recording.clean_step_ms, recording.profiled_step_ms
    if clean is None or profiled is None:
        return "no step was timed without the profiler, so its cost is not measured"
    text = (
        f"{recording.clean_steps} steps without the profiler had a median of {format_ms(clean)}, "
        f"those with it {format_ms(profiled)}"
    )
    if recording.inflation_frac is None:
        return text
    # A run under the profiler that looks faster is noise, not a gain.
    if recording.inflation_frac < 0.005:
        return f"{text}: no slower"
    return f"{text}: {format_frac(recording.inflation_frac)} slower"
