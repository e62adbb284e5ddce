"""``%%stepscope`` in a notebook: profiles a cell and shows the report under it.

%load_ext stepscope

%%stepscope --active 5
train(model, loader)
"""

from __future__ import annotations

import argparse
import html
import shlex
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from stepscope.errors import OptionError, StepscopeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEIGHT = 640
"""Pixels of the report under the cell; it scrolls."""


class _Options(argparse.ArgumentParser):
    """A parser that never ends the notebook's kernel."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(f"%%stepscope: {message}; it takes {self.format_usage().strip()[7:]}")


def register(shell: Any) -> None:  # noqa: ANN401  (IPython's, which is not imported here)
    """Make the magic known to a shell of IPython."""
    shell.register_magic_function(magic_of(shell), "cell", "stepscope")


def magic_of(shell: Any) -> Callable[[str, str], None]:  # noqa: ANN401  (likewise)
    """The magic of one shell."""

    def stepscope(line: str, cell: str) -> None:
        """Run the cell, record its steps, and show what limits them."""
        from stepscope.by_hand import profile

        try:
            options = _parser().parse_args(shlex.split(line))
        except StepscopeError as error:
            print(error, file=sys.stderr)
            return
        with profile(
            out=options.out,
            warmup=options.warmup,
            clean=options.clean,
            active=options.active,
            analyze=False,
        ) as run:
            outcome = shell.run_cell(cell)
        if run.path is not None and outcome.success:
            _show(run.path)

    return stepscope


def _parser() -> argparse.ArgumentParser:
    parser = _Options(prog="%%stepscope", add_help=False, allow_abbrev=False)
    parser.add_argument("--out", metavar="DIR")
    for name in ("--warmup", "--clean", "--active"):
        parser.add_argument(name, type=int, metavar="N")
    return parser


def _show(folder: Path) -> None:
    """The report as text, and as a page inside the notebook."""
    from IPython.display import HTML, display

    from stepscope import api
    from stepscope.report.html import render

    try:
        report = api.analyze([folder])
    except StepscopeError as error:
        print(error, file=sys.stderr)
        return
    api.save_json(report, folder / "report.json")
    api.save_html(report, folder / "report.html")
    print(f"{report.verdict.sentence} ({folder / 'report.html'})")
    page = html.escape(render(report), quote=True)
    # A frame of its own, so that neither page nor notebook can change the other.
    frame = (
        f'<div><iframe sandbox="allow-scripts" style="width:100%;height:{HEIGHT}px;border:0" '
        f'srcdoc="{page}"></iframe></div>'
    )
    display(HTML(frame))  # type: ignore[no-untyped-call]
