"""What the page's templates read: the Report beside the sentences and charts made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from stepscope.report import path_words, sentences
from stepscope.report.chosen import chosen_ranks
from stepscope.report.html.heat import Heat, heat_of
from stepscope.report.html.step_chart import step_chart, steps_per_bar
from stepscope.report.html.timeline_chart import timeline_chart
from stepscope.report.html.use_chart import use_chart
from stepscope.report.words import OVERVIEW, part_word
from stepscope.units import format_bytes, format_frac, format_ms, format_value

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812 - it is a class in spite of its name

    from stepscope.report.sentences import Figure as GpuFigure
    from stepscope.report.sentences import Whole
    from stepscope.schema.report import RankReport, Report

MOST_CHARTED: Final = 8
"""So many ranks get charts of their own; of the others the page has a line in the table of ranks."""
MOST_ROWS: Final = 25
"""Rows of a long table that are shown before the reader asks for all."""
MOST_SPANS: Final = 12_000
"""So many bars the timelines of all ranks hold together, which keeps the page small."""


class Segment(Struct, frozen=True):
    """One part of a stacked bar and one line of the table under it."""

    name: str
    label: str
    sentence: str
    ms: float
    frac: float


class Stack(Struct, frozen=True):
    """A stacked bar with its denominator in words."""

    of: str
    segments: tuple[Segment, ...]


class Tile(Struct, frozen=True):
    """A key figure: name, value, and what it is measured over."""

    name: str
    value: str
    note: str


class RankView(Struct, frozen=True):
    """One rank as the page shows it.

    Attributes:
        rank: The rank itself.
        key: Its position, for ids in the page.
        name: What it is called.
        parts, overview: Where its time goes, twice.
        path: Its critical path; ``None`` where it is not known.
        is_device: Whether a device works for it.
        figures: The GPU summary; empty without device work.
        steps, startup, outliers, loader: Sentences.
        per_bar: Steps that share a bar of the step chart.
        has_steps, has_timeline: Which charts there are.
        shown, hidden: Bars in the timeline, and those too short to see.
        charts: What the script embeds.
    """

    rank: RankReport
    key: int
    name: str
    parts: Stack
    overview: Stack
    path: Stack | None
    is_device: bool
    figures: tuple[GpuFigure, ...]
    steps: str
    startup: str
    outliers: str
    loader: str
    per_bar: int
    has_steps: bool
    has_timeline: bool
    shown: int
    hidden: int
    charts: dict[str, Any]


class RankRow(Struct, frozen=True):
    """A line in the table of ranks."""

    rank: RankReport
    parts: Stack


class PageView(Struct, frozen=True):
    """The whole page.

    Attributes:
        report: The report itself.
        focus: Position in ``charted`` of the rank that is shown first.
        charted: Ranks with charts.
        rows: One line for every rank: those with charts first when there are many.
        tiles: Key figures of the rank in focus.
        heat: Ranks and steps, where ranks were compared.
        use_chart: Utilisation over time as bokeh's script takes it; ``None`` where nothing was sampled.
    """

    report: Report
    focus: int
    charted: tuple[RankView, ...]
    rows: tuple[RankRow, ...]
    tiles: tuple[Tile, ...]
    heat: Heat | None
    use_chart: object | None


def page_view(report: Report) -> PageView:
    """Everything that the templates need."""
    ranks = chosen_ranks(report, MOST_CHARTED)
    spans = MOST_SPANS // len(ranks)
    first = sentences.focus(report)
    return PageView(
        report=report,
        focus=next((i for i, rank in enumerate(ranks) if rank is first), 0),
        charted=tuple(rank_view(rank, key, spans) for key, rank in enumerate(ranks)),
        rows=_rows(report, ranks),
        tiles=_tiles(report, first),
        heat=heat_of(report.job) if report.job is not None else None,
        use_chart=_item(use_chart(report.use)) if report.use is not None else None,
    )


def _rows(report: Report, first: tuple[RankReport, ...]) -> tuple[RankRow, ...]:
    """Lines of the table of ranks, in the order of ranks while all of them are shown at once."""
    ranks = list(report.ranks)
    if len(ranks) > MOST_ROWS:
        keys = {id(rank) for rank in first}
        ranks.sort(key=lambda rank: id(rank) not in keys)
    return tuple(RankRow(rank, _parts(rank)) for rank in ranks)


def rank_view(rank: RankReport, key: int, most_spans: int) -> RankView:
    """One rank with its charts."""
    charts: dict[str, Any] = {}
    has_steps = bool(rank.steps.count and rank.step_parts_ms)
    if has_steps:
        charts["steps"] = _item(step_chart(rank))
    shown = hidden = 0
    if rank.timeline is not None and rank.timeline.lanes:
        drawn = timeline_chart(rank.timeline, most_spans)
        shown, hidden = drawn.shown, drawn.hidden
        charts["timeline"] = _item(drawn.chart)
        charts["bars"] = {name: getattr(drawn.bars, name) for name in drawn.bars.__struct_fields__}
    return RankView(
        rank=rank,
        key=key,
        name=sentences.rank_name(rank),
        parts=_parts(rank),
        overview=_overview(rank),
        path=_path(rank),
        is_device=sentences.has_device(rank),
        figures=sentences.gpu_figures(rank.gpu) if rank.gpu is not None else (),
        steps=sentences.steps_sentence(rank.steps),
        startup=sentences.startup_sentence(rank.steps),
        outliers=sentences.outliers_sentence(rank.steps),
        loader=sentences.loader_sentence(rank),
        per_bar=steps_per_bar(rank.steps.count),
        has_steps=has_steps,
        has_timeline="timeline" in charts,
        shown=shown,
        hidden=hidden,
        charts=charts,
    )


def _item(chart: Figure) -> object:
    """A chart as bokeh's script takes it."""
    from bokeh.embed import json_item  # noqa: PLC0415 - slow to import, and only charts need it

    return json_item(chart)


def _parts(rank: RankReport) -> Stack:
    """Where a rank's step goes."""
    is_device = sentences.has_device(rank)
    whole = sentences.step_whole(rank)
    words = {share.name: part_word(share.name, has_device=is_device) for share in whole.shares}
    return Stack(
        whole.of,
        tuple(
            Segment(s.name, words[s.name].label, words[s.name].sentence, s.ms, s.frac)
            for s in whole.shares
        ),
    )


def _path(rank: RankReport) -> Stack | None:
    """The critical path, longest part first."""
    if rank.path is None:
        return None
    return Stack(
        path_words.whole(rank.path),
        tuple(
            Segment(s.part, s.word.label, s.word.sentence, s.ms, s.frac)
            for s in path_words.shares(rank.path)
        ),
    )


def _overview(rank: RankReport) -> Stack:
    """The classic overview; here parts of no length stay, as people know it."""
    whole: Whole = sentences.overview_whole(rank)
    found = {share.name: share for share in whole.shares}
    segments = []
    for name, word in OVERVIEW.items():
        share = found.get(name)
        ms, frac = (share.ms, share.frac) if share else (0.0, 0.0)
        segments.append(Segment(name, word.label, word.sentence, ms, frac))
    return Stack(whole.of, tuple(segments))


def _tiles(report: Report, rank: RankReport) -> tuple[Tile, ...]:
    """The key figures of the first screen."""
    steps = rank.steps
    whose = f", {sentences.rank_name(rank)}" if len(report.ranks) > 1 else ""
    if steps.count:
        note = f"median of {steps.count:,} steps{whose}"
        tiles = [Tile("Step time", format_ms(steps.median_ms), note)]
    else:
        tiles = [Tile("Window", format_ms(steps.mean_ms), f"no steps told apart{whose}")]
    if rank.gpu is not None:
        span = "of the time inside the steps" if steps.count else "of the window"
        tiles.append(Tile("GPU busy", format_value(rank.gpu.busy_frac, "frac"), span))
    if rank.loader_waits:
        each = format_ms(rank.loader_wait_ms / rank.loader_waits)
        tiles.append(Tile("DataLoader", each, f"mean of {rank.loader_waits:,} waits"))
    peak = next((peak for peak in rank.memory if peak.device != "cpu"), None)
    if peak is not None:
        of = "" if peak.capacity_bytes is None else f" of {format_bytes(peak.capacity_bytes)}"
        tiles.append(Tile("Peak memory", format_bytes(peak.allocated_bytes), f"{peak.device}{of}"))
    gain = next((f.gain for f in report.findings if f.gain is not None), None)
    if gain is not None:
        word = "measured" if gain.basis == "experiment" else "predicted"
        value = f"{gain.low:.2f}x to {gain.high:.2f}x"
        tiles.append(Tile("Gain of change 1", value, f"{word} speed-up"))
    recording = report.recording
    if recording is not None and recording.inflation_frac is not None:
        value = format_frac(recording.inflation_frac)
        tiles.append(
            Tile(
                "Profiler",
                f"+{value}" if recording.inflation_frac > 0 else value,
                "on a step's time",
            )
        )
    return tuple(tiles)
