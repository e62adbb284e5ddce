"""The chart of all steps: one bar a step, stacked by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bokeh.models import BasicTicker, ColumnDataSource, HoverTool, NumeralTickFormatter, Range1d
from bokeh.models.annotations import Span as Rule
from bokeh.plotting import figure
from msgspec import Struct

from stepscope.report import palette
from stepscope.report.sentences import has_device
from stepscope.report.words import part_word
from stepscope.units import format_frac, format_ms

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812 - it is a class in spite of its name

    from stepscope.schema.report import RankReport

MOST_BARS: Final = 300
"""More steps than this are drawn as means over neighbouring steps."""
HEIGHT: Final = 260
_HOVER: Final = (
    '<div class="tip"><div><b>@title</b></div><div>@part: @value, @share of it</div>'
    "<div>whole: @whole</div></div>"
)


class Bar(Struct, frozen=True):
    """A bar: the mean of ``last - first + 1`` neighbouring steps.

    Attributes:
        first, last: Positions of its steps, from 0.
        ms: Mean length.
        parts: Mean parts.
        is_startup: Whether any of them is start-up.
        is_outlier: Whether any of them is far from the median.
        is_partial: Whether the window cuts any of them.
    """

    first: int
    last: int
    ms: float
    parts: dict[str, float]
    is_startup: bool
    is_outlier: bool
    is_partial: bool


def steps_per_bar(count: int) -> int:
    """How many neighbouring steps share a bar."""
    return max(1, -(-count // MOST_BARS))


def bars(rank: RankReport) -> tuple[Bar, ...]:
    """The bars of a rank, at most ``MOST_BARS``."""
    steps = rank.steps
    size = steps_per_bar(steps.count)
    outliers = frozenset(steps.outliers)
    made = []
    for first in range(0, min(steps.count, len(rank.step_parts_ms)), size):
        last = min(first + size, steps.count, len(rank.step_parts_ms)) - 1
        rows = rank.step_parts_ms[first : last + 1]
        lengths = steps.durations_ms[first : last + 1]
        made.append(
            Bar(
                first=first,
                last=last,
                ms=sum(lengths) / len(lengths),
                parts={name: sum(row[name] for row in rows) / len(rows) for name in rows[0]},
                is_startup=any(steps.startup[first : last + 1]),
                is_outlier=any(position in outliers for position in range(first, last + 1)),
                is_partial=any(steps.partial[first : last + 1]),
            )
        )
    return tuple(made)


def step_chart(rank: RankReport) -> Figure:
    """A figure with one bar a step and a line at the median."""
    drawn = bars(rank)
    size = steps_per_bar(rank.steps.count)
    top = max((bar.ms for bar in drawn), default=1.0)
    top = max([top] + [rank.steps.durations_ms[position] for position in rank.steps.outliers])
    count = max(rank.steps.count, 1)
    chart = figure(
        height=HEIGHT,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        x_range=Range1d(start=0.4, end=count + 0.6),
        y_range=Range1d(start=0, end=top * 1.1 or 1.0),
        x_axis_label="step" if size == 1 else f"step (each bar is the mean of {size} steps)",
        y_axis_label="milliseconds",
        min_border_left=64,
        background_fill_color=None,
        border_fill_color=None,
    )
    segments = chart.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        fill_color="color",
        line_color=None,
        hatch_pattern="hatch",
        hatch_color="#000000",
        hatch_alpha=0.35,
        hatch_scale=8,
        source=ColumnDataSource(_columns(drawn, is_device=has_device(rank))),
    )
    chart.add_tools(HoverTool(renderers=[segments], tooltips=_HOVER, point_policy="follow_mouse"))
    chart.scatter(
        x="step",
        y="ms",
        marker="inverted_triangle",
        size=8,
        line_color=None,
        name="outliers",
        source=ColumnDataSource(_outliers(rank, above=0.03 * top)),
    )
    chart.add_layout(
        Rule(
            location=rank.steps.median_ms,
            dimension="width",
            line_dash="dashed",
            line_width=1.5,
            name="median",
        )
    )
    chart.xgrid.visible = False
    chart.yaxis.minor_tick_line_color = None
    chart.xaxis.minor_tick_line_color = None
    chart.xaxis.ticker = BasicTicker(min_interval=1, num_minor_ticks=0)
    chart.yaxis.formatter = NumeralTickFormatter(format="0,0[.]0")
    return chart


def _columns(drawn: tuple[Bar, ...], *, is_device: bool) -> dict[str, list[object]]:
    """One row for every part of every bar that has any length."""
    names = (
        "left",
        "right",
        "bottom",
        "top",
        "color",
        "hatch",
        "title",
        "part",
        "value",
        "share",
        "whole",
    )
    columns: dict[str, list[object]] = {name: [] for name in names}
    for bar in drawn:
        floor = 0.0
        for part, ms in bar.parts.items():
            if ms <= 0:
                continue
            label = part_word(part, has_device=is_device).label
            share = format_frac(ms / bar.ms) if bar.ms > 0 else "0 %"
            row = (
                bar.first + 0.6,
                bar.last + 1.4,
                round(floor, 6),
                round(floor + ms, 6),
                palette.part(part),
                "/" if bar.is_startup else " ",
                _title(bar),
                label,
                format_ms(ms),
                share,
                format_ms(bar.ms),
            )
            for name, cell in zip(names, row, strict=True):
                columns[name].append(cell)
            floor += ms
    return columns


def _outliers(rank: RankReport, above: float) -> dict[str, list[float]]:
    """Points ``above`` milliseconds over the ends of the steps far from the median."""
    positions = rank.steps.outliers[:MOST_BARS]
    return {
        "step": [position + 1 for position in positions],
        "ms": [rank.steps.durations_ms[position] + above for position in positions],
    }


def _title(bar: Bar) -> str:
    """What the hover calls a bar."""
    name = (
        f"step {bar.first + 1}"
        if bar.first == bar.last
        else f"mean of steps {bar.first + 1} to {bar.last + 1}"
    )
    marks = [
        word
        for word, holds in (
            ("start-up", bar.is_startup),
            ("far from the median", bar.is_outlier),
            ("cut by the window", bar.is_partial),
        )
        if holds
    ]
    return f"{name} ({', '.join(marks)})" if marks else name
