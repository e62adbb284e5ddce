"""Diagnose traces that torch.profiler wrote: where a step's time goes, what limits it, what to try.

Give files, folders (a job with one file per rank, or a run folder of 'stepscope profile'), or '-'
for standard input. Plain or gzipped JSON of any PyTorch since 2020 is read, whatever the file is
called; broken files are read as far as they are whole, and the report says so. Of a run in light
mode ('stepscope profile --light'), the step times of all ranks are read and compared.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from stepscope.cli.rates import add_plan, options_of
from stepscope.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from stepscope.schema.report import Report

NAME = "analyze"
HELP = "diagnose traces: where a step's time goes, what limits it, what to try"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="trace files or folders; - is stdin"
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the report as JSON; - writes it to stdout, the text to stderr",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        default="none",
        help="write one HTML page; none (the default) writes none",
    )
    parser.add_argument("--rank", type=int, metavar="N", help="look at this rank only")
    parser.add_argument(
        "--steps", type=_steps, metavar="A:B", help="look at steps A up to, not including, B only"
    )
    parser.add_argument(
        "--jobs",
        type=_jobs,
        metavar="N",
        help="processes that read files at the same time; by default one a core for large jobs",
    )
    parser.add_argument(
        "--cache",
        action="store_true",
        help="keep the tables beside each trace, so that it opens faster the next time",
    )
    parser.add_argument(
        "--staging",
        metavar="DIR",
        help="of a run folder: measure reading its data set's files where they lie and as copies in DIR, and "
        "predict what copying all of them there would gain",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="read ranks on the workers of this Dask scheduler, for instance tcp://node01:8786",
    )
    where.add_argument(
        "--slurm-nodes",
        type=_jobs,
        metavar="N",
        help="submit N jobs to Slurm, one a node, and read ranks there; ends them afterwards",
    )
    parser.add_argument("--no-text", action="store_true", help="print no text")
    add_plan(parser)


def run(args: argparse.Namespace) -> int:
    """Analyse, print, write what was asked for."""
    from stepscope import api
    from stepscope.cost.options import CostOptions

    if api.has_steps_only(args.paths):
        return _tell_steps(args)
    with _progress() as progress:
        report = api.analyze(
            args.paths,
            rank=args.rank,
            steps=args.steps,
            jobs=f"slurm:{args.slurm_nodes}" if args.slurm_nodes else args.scheduler or args.jobs,
            cache=args.cache,
            staging=args.staging,
            progress=progress,
        )
    options = options_of(args)
    if options != CostOptions():
        report = api.price(report, options)
    deliver(report, json=args.json, html=args.html, text=not args.no_text)
    return 0


def _tell_steps(args: argparse.Namespace) -> int:
    """A run in light mode: there are step times and no traces."""
    from stepscope import api
    from stepscope.report.light_text import light_text

    unused = [args.rank, args.steps, args.scheduler]
    if args.html != "none" or any(one is not None for one in unused):
        raise OptionError(
            "this run holds step times and no traces: only --json and --no-text have a meaning for it"
        )
    report = api.load_light(args.paths[0])
    if not args.no_text:
        print(light_text(report), end="", file=sys.stderr if args.json == "-" else sys.stdout)
    if args.json:
        api.save_json(report, sys.stdout.buffer if args.json == "-" else args.json)
    return 0


def deliver(report: Report, *, json: str | None, html: str, text: bool) -> None:
    """Prints the report and writes the files that were asked for."""
    from stepscope import api

    if text:
        api.print_report(report, file=sys.stderr if json == "-" else sys.stdout)
    if json:
        api.save_json(report, sys.stdout.buffer if json == "-" else json)
    if html != "none":
        api.save_html(report, html)


def _steps(text: str) -> tuple[int | None, int | None]:
    first, colon, last = text.partition(":")
    try:
        bounds = (int(first) if first else None, int(last) if last else None)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not of the form A:B, for instance 10:20"
        ) from None
    if not colon:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form A:B, for instance 10:20")
    return bounds


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes, 1 or more")
    return int(text)


def _progress() -> AbstractContextManager[Callable[[int, int, str], None] | None]:
    """A bar on stderr while files are read, on a terminal only."""
    if not sys.stderr.isatty():
        return nullcontext()
    return _Bar()


class _Bar:
    """Progress over files."""

    def __enter__(self) -> Callable[[int, int, str], None]:
        from rich.console import Console
        from rich.progress import Progress

        self._bar = Progress(console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("reading", total=None)
        return self._advance

    def __exit__(self, *_: Any) -> None:  # noqa: ANN401  (of the protocol)
        self._bar.stop()

    def _advance(self, done: int, total: int, path: str) -> None:
        self._bar.update(
            self._task, completed=done, total=total, description=f"reading {path[-40:]}"
        )
