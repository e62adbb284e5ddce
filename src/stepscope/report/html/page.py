"""The page: templates filled, scripts and style put in, nothing left to load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from stepscope.report import (
    cost_words,
    job_words,
    line_words,
    loader_words,
    palette,
    path_words,
    run_words,
    sentences,
    use_words,
)
from stepscope.report.foreign import printable, printable_lines
from stepscope.report.html import assets
from stepscope.report.whole import write_whole
from stepscope.report.words import REGIMES
from stepscope.units import format_bytes, format_frac, format_ms, format_value

if TYPE_CHECKING:
    import os

    from stepscope.schema.report import Report


def write(report: Report, path: str | os.PathLike[str]) -> None:
    """Write a report as one HTML file.

    Raises:
        InputError: The path cannot be written.
    """
    write_whole(Path(path), render(report).encode("utf-8"))


def render(report: Report) -> str:
    """A report as the text of one HTML file."""
    # Only here, because charts import bokeh, which takes half a second.
    from stepscope.report.html.view import MOST_ROWS, page_view  # noqa: PLC0415

    view = page_view(report)
    bokeh, script = assets.bokeh_script(), assets.page_script()
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            view=view,
            report=report,
            policy=assets.policy(bokeh, script),
            style=assets.style(),
            bokeh=bokeh,
            script=script,
            rows=MOST_ROWS,
        )
    )


def _environment() -> Environment:
    """Jinja with autoescape on; every text passes ``printable`` on its way into the page."""
    environment = Environment(
        loader=PackageLoader("stepscope.report.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {
        "ms": format_ms,
        "frac": format_frac,
        "bytes": lambda count: format_value(count, "bytes"),
        "value": format_value,
        "lines": lambda text: printable_lines(text.strip("\n")).split("\n"),
        "data": assets.data,
        "percent": lambda frac: f"{max(frac, 0.0) * 100:.3g}%",
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "key": lambda number: "" if number is None else f"{number:.6g}",
    }
    environment.globals |= {
        "part_colour": palette.part,
        "overview_colour": palette.overview,
        "path_colour": palette.path,
        "kind_colours": palette.KINDS,
        "run_colour": palette.run_part,
        "track_colour": palette.track,
        "cost_words": cost_words,
        "use_words": use_words,
        "regimes": REGIMES,
        "gain_sentence": sentences.gain_sentence,
        "recording_sentence": sentences.recording_sentence,
        "rank_name": sentences.rank_name,
        "job_words": job_words,
        "line_words": line_words,
        "loader_words": loader_words,
        "path_words": path_words,
        "run_words": run_words,
        "growth": _growth,
    }
    return environment


def _growth(per_step: float | None) -> str:
    """Growth of memory per step, with its sign."""
    if per_step is None:
        return "not measured"
    return f"{'+' if per_step > 0 else ''}{format_bytes(per_step)}"


def _shown(value: object) -> object:
    """What stands in the page for a value: nothing hidden, nothing that reads ``None``."""
    if value is None:
        return "not measured"
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value
