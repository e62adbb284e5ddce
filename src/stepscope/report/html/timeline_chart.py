"""The zoomable timeline of one step: host threads above, device streams below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    NumeralTickFormatter,
    PanTool,
    Range1d,
    WheelZoomTool,
)
from bokeh.plotting import figure
from msgspec import Struct

from stepscope.report import palette
from stepscope.report.foreign import essential, printable, shorten
from stepscope.units import format_ms

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812 - it is a class in spite of its name

    from stepscope.schema.report import Lane, Span, Timeline

ROW_HEIGHT: Final = 17
LEAST_HEIGHT, MOST_HEIGHT = 120, 760
GAP: Final = 0.6
"""Rows of empty space between two lanes."""
_HOVER: Final = (
    '<div class="tip"><div><b>@name</b></div><div>@kind, @length</div>'
    "<div>starts @left{0,0.000} ms after the step</div></div>"
)


class Bars(Struct, frozen=True):
    """All bars of a timeline in columns; the page's script expands them, names are kept once.

    Attributes:
        names, short: The names in full, and as they stand inside the bars.
        kinds: Names of the kinds.
        colours: ``palette.SHADES`` colours for every kind, one kind after the other.
        inks: The colour of letters on each of ``colours``.
        name, kind: Position in ``names`` and ``kinds``, one per bar.
        start, length: Milliseconds, one per bar.
        row: Rows from the top, one per bar.
        words: Lengths in words, each once.
        text: Position in ``words``, one per bar.
    """

    names: list[str]
    short: list[str]
    kinds: list[str]
    colours: list[str]
    inks: list[str]
    words: list[str]
    name: list[int]
    kind: list[int]
    start: list[float]
    length: list[float]
    row: list[float]
    text: list[int]


class Drawn(Struct, frozen=True):
    """A timeline as it is drawn.

    Attributes:
        chart: The figure without its bars.
        bars: The bars.
        shown: How many bars there are.
        hidden: How many were left out because they are too short to see.
    """

    chart: Figure
    bars: Bars
    shown: int
    hidden: int


def timeline_chart(timeline: Timeline, most_spans: int) -> Drawn:
    """The longest ``most_spans`` bars of a step, and the figure that they belong in."""
    quotas = _quotas(timeline.lanes, most_spans)
    lanes = [
        (lane, _longest(lane, most)) for lane, most in zip(timeline.lanes, quotas, strict=True)
    ]
    tops, bottom = _tops(lanes)
    bars = _bars(lanes, tops)
    chart = _figure(timeline, lanes, tops, bottom)
    total = sum(len(lane.spans) + lane.hidden for lane in timeline.lanes)
    return Drawn(chart, bars, len(bars.name), total - len(bars.name))


def _quotas(lanes: tuple[Lane, ...], most: int) -> list[int]:
    """How many bars every lane may draw: all of a short lane, so that none looks empty."""
    quotas = [0] * len(lanes)
    order = sorted(range(len(lanes)), key=lambda i: len(lanes[i].spans))
    for place, i in enumerate(order):
        quotas[i] = min(len(lanes[i].spans), most // (len(lanes) - place))
        most -= quotas[i]
    return quotas


def _longest(lane: Lane, most: int) -> tuple[Span, ...]:
    """The ``most`` longest bars of a lane in their order."""
    if len(lane.spans) <= most:
        return lane.spans
    order = sorted(range(len(lane.spans)), key=lambda i: -lane.spans[i].duration_us)
    return tuple(lane.spans[i] for i in sorted(order[:most]))


def _tops(lanes: list[tuple[Lane, tuple[Span, ...]]]) -> tuple[list[float], float]:
    """The row at which every lane starts, and the one below the last."""
    tops, row = [], 0.0
    for _, spans in lanes:
        tops.append(row)
        row += max((span.depth for span in spans), default=0) + 1 + GAP
    return tops, row


def _bars(lanes: list[tuple[Lane, tuple[Span, ...]]], tops: list[float]) -> Bars:
    """The bars of all lanes in columns."""
    kinds = list(palette.KINDS)
    names: dict[str, int] = {}
    words: dict[str, int] = {}
    colours = [colour for kind in kinds for colour in palette.shades(palette.kind(kind))]
    bars = Bars(
        names=[],
        short=[],
        kinds=kinds,
        colours=colours,
        inks=[palette.ink(colour) for colour in colours],
        words=[],
        name=[],
        kind=[],
        start=[],
        length=[],
        row=[],
        text=[],
    )
    for (_, spans), top in zip(lanes, tops, strict=True):
        for span in spans:
            bars.name.append(names.setdefault(span.name, len(names)))
            bars.kind.append(kinds.index(span.kind) if span.kind in kinds else kinds.index("other"))
            bars.start.append(round(span.start_us / 1e3, 5))
            bars.length.append(round(span.duration_us / 1e3, 5))
            bars.row.append(round(top + span.depth, 3))
            text = format_ms(span.duration_us / 1e3)
            bars.text.append(words.setdefault(text, len(words)))
    bars.words.extend(words)
    bars.names.extend(printable(name) for name in names)
    bars.short.extend(printable(essential(name)) for name in names)
    return bars


def _figure(
    timeline: Timeline,
    lanes: list[tuple[Lane, tuple[Span, ...]]],
    tops: list[float],
    bottom: float,
) -> Figure:
    """The figure: time along x, rows downwards along y, a name for every lane."""
    length = timeline.duration_ms or 1.0
    height = int(min(max(bottom * ROW_HEIGHT + 60, LEAST_HEIGHT), MOST_HEIGHT))
    chart = figure(
        height=height,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        x_range=Range1d(
            start=0, end=length, bounds=(-0.02 * length, 1.02 * length), min_interval=1e-3
        ),
        y_range=Range1d(start=bottom, end=-GAP / 2),
        x_axis_label="milliseconds after the start of the step",
        min_border_left=64,
        background_fill_color=None,
        border_fill_color=None,
    )
    names = ("left", "right", "top", "bottom", "color", "name", "kind", "length")
    rows = chart.quad(
        left="left",
        right="right",
        top="top",
        bottom="bottom",
        fill_color="color",
        line_color=None,
        hover_line_color="#000000",
        source=ColumnDataSource({name: [] for name in names}),
    )
    chart.text(
        x="x",
        y="y",
        text="text",
        text_color="color",
        text_font_size="10.5px",
        text_baseline="middle",
        source=ColumnDataSource({name: [] for name in ("x", "y", "text", "color")}),
    )
    zoom = WheelZoomTool(dimensions="width", modifiers={"ctrl": True}, maintain_focus=False)
    chart.add_tools(
        PanTool(dimensions="width"),
        zoom,
        HoverTool(renderers=[rows], tooltips=_HOVER, point_policy="follow_mouse"),
    )
    _name_lanes(chart, [lane for lane, _ in lanes], tops, bottom)
    return chart


def _name_lanes(chart: Figure, lanes: list[Lane], tops: list[float], bottom: float) -> None:
    """Put a lane's name in the middle of its rows, and a line between two lanes."""
    ends = [*tops[1:], bottom][: len(tops)]
    middles = [round((top + end - GAP) / 2, 3) for top, end in zip(tops, ends, strict=True)]
    chart.yaxis.ticker = FixedTicker(ticks=middles)
    chart.yaxis.major_label_overrides = {
        middle: _label(lane.label) for middle, lane in zip(middles, lanes, strict=True)
    }
    chart.ygrid.ticker = FixedTicker(ticks=[round(top - GAP / 2, 3) for top in tops])
    chart.yaxis.major_tick_line_color = None
    chart.xaxis.formatter = NumeralTickFormatter(format="0,0[.][000]")


def _label(text: str) -> str:
    """A lane's name as an axis shows it; pairs of dollars would be read as TeX."""
    return shorten(printable(text), 30).replace("$$", "$ $")
