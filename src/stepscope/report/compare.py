"""Two reports held against each other: is the second faster, is that real, and where does it come from."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from stepscope.report.compare_rows import Change, kernel_changes, operator_changes
from stepscope.report.compare_spent import Spent, spent_of
from stepscope.report.compare_stats import Ratio, compare_series
from stepscope.schema.run_time import ACCOUNT_BASIS

if TYPE_CHECKING:
    from stepscope.schema.report import Finding, Gain, RankReport, Report

Verdict = Literal["faster", "slower", "same", "unproven", "not-comparable"]

SLOW: Final = 1.25
"""A step that takes so many times the median is named as a slow one."""
SAME: Final = 0.05
"""An unproven difference below this share is called none."""


class SlowStep(Struct, frozen=True):
    """A step that holds the mean up: its number from 1, its length, and that over the median."""

    number: int
    ms: float
    ratio: float


class Side(Struct, frozen=True):
    """One of the two.

    Attributes:
        name: What it was read from.
        device: The device of its first rank.
        steps: How many steps were compared; 0 when none could be told apart.
        series: What the steps are, in words.
        median_ms, mean_ms: Over them; the window's length without steps. The mean step of a device lasts
            until its work is done: what it still does behind the last step is shared by all.
        slow: Slow steps, longest first.
        loader_wait_ms: Waiting for the DataLoader in the mean step.
    """

    name: str
    device: str
    steps: int
    series: str
    median_ms: float
    mean_ms: float
    slow: tuple[SlowStep, ...]
    loader_wait_ms: float


class Prediction(Struct, frozen=True):
    """What a finding of the first report promised, beside what was measured.

    Attributes:
        code, title: Of the finding, which the second report has no more.
        gain: What was promised, or measured by experiment.
        measured: Speed-up, by medians or by means as ``Ratio.by`` says.
        held: Whether it lies in the promised range.
    """

    code: str
    title: str
    gain: Gain
    measured: float
    held: bool


class Comparison(Struct, frozen=True):
    """Everything that two reports say about each other.

    Attributes:
        verdict: ``faster`` and ``slower`` are certain, ``same`` is no real difference, ``unproven`` a
            difference that so few or so different steps do not prove, ``not-comparable`` when only
            one of the two has steps.
        before, after: The two sides.
        ratio: The statistics; ``None`` when not comparable.
        parts_delta_ms: How much longer each part of the mean step is; ``None`` when one has a device
            and the other none.
        kernels, operators: What appeared, vanished or changed.
        gone, new: Findings of the first only, and of the second only.
        predictions: Promises of findings that are gone.
        spent: Energy and money of a step, where both know it.
    """

    verdict: Verdict
    before: Side
    after: Side
    ratio: Ratio | None
    parts_delta_ms: dict[str, float] | None
    kernels: tuple[Change, ...]
    operators: tuple[Change, ...]
    gone: tuple[Finding, ...]
    new: tuple[Finding, ...]
    predictions: tuple[Prediction, ...]
    spent: tuple[Spent, ...] = ()

    @property
    def certain(self) -> bool:
        """Whether there is a real difference."""
        return self.ratio is not None and self.ratio.certain


def compare(before: Report, after: Report) -> Comparison:
    """Hold ``after`` against ``before``."""
    one, other = _typical(before), _typical(after)
    clean = _clean(before), _clean(after)
    if clean[0] and clean[1]:
        series, words = clean, "steps without the profiler"
    else:
        series, words = (_series(one), _series(other)), "steady steps"
    tails = (0.0, 0.0) if series is clean else (_tail(one), _tail(other))
    sides = (
        _side(before, one, series[0], words, tails[0]),
        _side(after, other, series[1], words, tails[1]),
    )
    comparable = (one.steps.count > 0) == (other.steps.count > 0) and min(map(min, series)) > 0
    means = sides[0].mean_ms, sides[1].mean_ms
    ratio = compare_series(*series, means) if comparable else None
    gone, new = _lacking(before, after), _lacking(after, before)
    return Comparison(
        verdict=_verdict(ratio),
        before=sides[0],
        after=sides[1],
        ratio=ratio,
        parts_delta_ms=_parts_delta(one, other),
        kernels=kernel_changes(before, after),
        operators=operator_changes(before, after),
        gone=gone,
        new=new,
        predictions=_predictions(gone, ratio),
        spent=spent_of(before, after, _steps_ms(sides)),
    )


def _steps_ms(sides: tuple[Side, Side]) -> tuple[float, float]:
    """Mean steps of both; 0 where there are none."""
    one, other = (side.mean_ms if side.steps else 0.0 for side in sides)
    return one, other


def _verdict(ratio: Ratio | None) -> Verdict:
    """The verdict as a word."""
    if ratio is None:
        return "not-comparable"
    if ratio.certain:
        return "faster" if ratio.headline > 1 else "slower"
    return "same" if abs(ratio.headline - 1) < SAME else "unproven"


def _typical(report: Report) -> RankReport:
    """The rank whose steps stand for the job's: the slowest by median, for all wait for it."""
    return max(report.ranks, key=lambda rank: rank.steps.median_ms)


def _clean(report: Report) -> tuple[float, ...]:
    """Steps that the recorder timed without the profiler."""
    return report.recording.clean_durations_ms if report.recording is not None else ()


def _series(rank: RankReport) -> tuple[float, ...]:
    """The rank's steps without start-up and without those that the window cuts, if any are left."""
    steps = rank.steps
    if not steps.count:
        return steps.durations_ms
    rows = zip(steps.durations_ms, steps.startup, steps.partial, strict=True)
    kept = tuple(ms for ms, is_startup, is_partial in rows if not is_startup and not is_partial)
    return kept or steps.durations_ms


def _tail(rank: RankReport) -> float:
    """Work of the device behind the last step, which belongs to the steps that launched it."""
    if not rank.steps.count or any(rank.steps.partial) or rank.gpu is None:
        return 0.0
    return rank.gpu.tail_ms or 0.0


def _side(
    report: Report, rank: RankReport, series: tuple[float, ...], words: str, tail_ms: float
) -> Side:
    """One side in figures."""
    middle = median(series)
    has_steps = rank.steps.count > 0
    slow = [
        SlowStep(number, ms, ms / middle)
        for number, ms in enumerate(series, 1)
        if has_steps and middle > 0 and ms > SLOW * middle
    ]
    return Side(
        name=report.paths[0] if report.paths else "",
        device=report.ranks[0].device,
        steps=len(series) if has_steps else 0,
        series=words if has_steps else "window",
        median_ms=middle,
        mean_ms=fmean(series) + tail_ms / len(series),
        slow=tuple(sorted(slow, key=lambda step: -step.ms)),
        loader_wait_ms=rank.loader_wait_ms / max(rank.steps.count, 1),
    )


def _parts_delta(before: RankReport, after: RankReport) -> dict[str, float] | None:
    """The difference of every part of the steady step, of the mean step without a steady one."""
    if before.parts_ms.keys() != after.parts_ms.keys():
        return None
    if before.steady_parts_ms is not None and after.steady_parts_ms is not None:
        one, other = before.steady_parts_ms, after.steady_parts_ms
    else:
        one, other = before.parts_ms, after.parts_ms
    return {name: other[name] - one[name] for name in one}


def _lacking(report: Report, other: Report) -> tuple[Finding, ...]:
    """Findings of ``report`` that the other has not."""
    there = {finding.code for finding in other.findings}
    return tuple(finding for finding in report.findings if finding.code not in there)


def _predictions(gone: tuple[Finding, ...], ratio: Ratio | None) -> tuple[Prediction, ...]:
    """Promises of findings that are gone, held against the measured ratio; those of the steps, which were measured."""
    if ratio is None:
        return ()
    return tuple(
        Prediction(
            finding.code,
            finding.title,
            finding.gain,
            ratio.headline,
            finding.gain.low <= ratio.headline <= finding.gain.high,
        )
        for finding in gone
        if finding.gain is not None and finding.gain.basis != ACCOUNT_BASIS
    )
