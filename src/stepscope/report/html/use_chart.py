"""The chart of the whole run: its parts and steps above, what it used below, on one time axis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, NumeralTickFormatter, Range1d
from bokeh.plotting import figure

from stepscope.report import palette
from stepscope.report.foreign import printable, shorten
from stepscope.report.use_words import part_label, track_name, value
from stepscope.units import format_ms

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812 - it is a class in spite of its name

    from stepscope.schema.use_report import UseReport, UseTrack

MOST_TRACKS: Final = 40
"""Of more quantities the page has the table alone."""
MOST_BARS: Final = 2400
"""So many bars at most, which keeps the page small."""
GAP: Final = 0.35
LANE_HEIGHT: Final = 34
_HOVER: Final = '<div class="tip"><div><b>@title</b></div><div>@text</div></div>'
LEAST_OF_LIMIT: Final = 0.2
"""A quantity that never reaches this share of what there is of it is drawn up to its own peak."""


@dataclass(slots=True)
class _Bars:
    """Bars of all lanes in columns."""

    left: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    top: list[float] = field(default_factory=list)
    bottom: list[float] = field(default_factory=list)
    color: list[str] = field(default_factory=list)
    title: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def add(
        self,
        span: tuple[float, float],
        rows: tuple[float, float],
        color: str,
        text: tuple[str, str],
    ) -> None:
        """A bar from ``span[0]`` to ``span[1]`` seconds between two rows, and what hovering says."""
        self.left.append(round(span[0], 4))
        self.right.append(round(span[1], 4))
        self.top.append(round(rows[0], 3))
        self.bottom.append(round(rows[1], 3))
        self.color.append(color)
        self.title.append(text[0])
        self.text.append(text[1])


def use_chart(use: UseReport) -> Figure:
    """The figure; every lane has a name, and its full height is said there."""
    bars = _Bars()
    names: list[str] = []
    if use.phases:
        _phases(use, bars, len(names) * (1 + GAP))
        names.append("part of the run")
    if use.steps:
        longest = max(step.mean_ms for step in use.steps)
        _steps(use, bars, len(names) * (1 + GAP), longest)
        names.append(f"step time, to {format_ms(longest)}")
    tracks = use.tracks[:MOST_TRACKS]
    size = max(-(-len(tracks) * use.stretches // MOST_BARS), 1)
    for track in tracks:
        scale = full_height(track)
        _track(track, use, bars, len(names) * (1 + GAP), scale, size)
        names.append(f"{track_name(track, use)}, to {value(scale, track.unit)}")
    return _figure(use, bars, names)


def full_height(track: UseTrack) -> float:
    """What a lane's full height stands for: all there is of it, or its peak where that is little."""
    peak = track.peak or 0.0
    if track.limit is not None and peak >= LEAST_OF_LIMIT * track.limit:
        return max(track.limit, peak)
    return peak or track.limit or 1.0


def _phases(use: UseReport, bars: _Bars, row: float) -> None:
    """The parts of the run, all of full height."""
    for phase in use.phases:
        length = format_ms((phase.end_s - phase.start_s) * 1e3)
        text = _time(phase.start_s, phase.end_s), f"{part_label(phase.part)}, {length}"
        color = palette.run_part(phase.part)
        bars.add((phase.start_s, phase.end_s), (row, row + 1), color, text)


def _steps(use: UseReport, bars: _Bars, row: float, longest: float) -> None:
    """The steps, as high as they are long."""
    for step in use.steps:
        name = f"step {step.first + 1}"
        if step.last > step.first:
            name = f"mean of steps {step.first + 1} to {step.last + 1}"
        text = name, f"{format_ms(step.mean_ms)}, {step.kind}"
        height = step.mean_ms / longest if longest > 0 else 0.0
        color = palette.run_part("stepscope") if step.kind == "profiled" else palette.BLUE
        # A little apart, so that steps can be told from each other.
        end = step.end_s - 0.06 * (step.end_s - step.start_s)
        bars.add((step.start_s, end), (row + 1 - height, row + 1), color, text)


def _track(
    track: UseTrack, use: UseReport, bars: _Bars, row: float, scale: float, size: int
) -> None:
    """A quantity; ``size`` neighbouring stretches share a bar."""
    color = palette.track(track.kind)
    for first in range(0, len(track.values), size):
        known = [one for one in track.values[first : first + size] if one is not None]
        if not known:
            continue
        mean = sum(known) / len(known)
        start = use.start_s + first * use.stretch_s
        end = min(start + size * use.stretch_s, use.start_s + use.stretches * use.stretch_s)
        of = "" if track.limit is None else f" of {value(track.limit, track.unit)}"
        text = _time(start, end), f"{track_name(track, use)} {value(mean, track.unit)}{of}"
        height = min(mean / scale, 1.0) if scale > 0 else 0.0
        bars.add((start, end), (row + 1 - height, row + 1), color, text)


def _time(start: float, end: float) -> str:
    """A stretch of time."""
    return f"{start:.1f} s to {end:.1f} s"


def _figure(use: UseReport, bars: _Bars, names: list[str]) -> Figure:
    """Time along x, lanes downwards along y."""
    bottom = len(names) * (1 + GAP)
    end = max([use.start_s + use.stretches * use.stretch_s, *(one.end_s for one in use.phases)])
    chart = figure(
        height=int(bottom * LANE_HEIGHT + 60),
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        x_range=Range1d(start=min(0.0, use.start_s), end=end),
        y_range=Range1d(start=bottom, end=-GAP / 2),
        x_axis_label="seconds after the start of the script",
        min_border_left=64,
        background_fill_color=None,
        border_fill_color=None,
    )
    columns = {name: getattr(bars, name) for name in bars.__slots__}
    quads = chart.quad(
        left="left",
        right="right",
        top="top",
        bottom="bottom",
        fill_color="color",
        line_color="color",
        line_width=0.5,
        source=ColumnDataSource(columns),
    )
    chart.add_tools(HoverTool(renderers=[quads], tooltips=_HOVER, point_policy="follow_mouse"))
    middles = [round(place * (1 + GAP) + 0.5, 3) for place in range(len(names))]
    chart.yaxis.ticker = FixedTicker(ticks=middles)
    chart.yaxis.major_label_overrides = {
        middle: shorten(printable(name), 34).replace("$$", "$ $")
        for middle, name in zip(middles, names, strict=True)
    }
    chart.yaxis.major_tick_line_color = None
    chart.ygrid.ticker = FixedTicker(
        ticks=[round(place * (1 + GAP) - GAP / 2, 3) for place in range(len(names) + 1)]
    )
    chart.xaxis.formatter = NumeralTickFormatter(format="0,0[.][000]")
    return chart
