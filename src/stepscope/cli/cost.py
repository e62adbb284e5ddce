"""Price a plan, or a run repeated: money, energy and carbon, each with its range, its basis and its arithmetic.

  stepscope cost --gpus 4 --hours 24 --runs 10 --device H100 --site snellius
  stepscope cost RUN --runs 10000                              this run, 10,000 times
  stepscope cost --flops 3.14e23 --flops-per-second 28e12 --device V100 --price 1.50 --currency USD

What is paid for idle time stands before the total. The rates in use are printed with date and source; each can be
overridden by a file, the environment or an option.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.cli.rates import add_rates, options_of
from stepscope.errors import InputError

if TYPE_CHECKING:
    import argparse

NAME = "cost"
HELP = "price a plan, or a run repeated: money, energy, carbon, each with its range"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("run", nargs="?", type=Path, help="a run folder, watched or recorded")
    plan = parser.add_argument_group("the plan")
    plan.add_argument("--gpus", type=int, metavar="N", help="devices in a run")
    plan.add_argument("--hours", type=float, metavar="H", help="hours that one run takes")
    plan.add_argument("--runs", type=int, default=1, metavar="N", help="how many runs (default: 1)")
    plan.add_argument("--flops", type=float, metavar="N", help="floating-point operations of a run")
    plan.add_argument(
        "--flops-per-second", type=float, metavar="N", help="what one device sustains"
    )
    plan.add_argument("--device", metavar="NAME", help="for instance H100")
    plan.add_argument("--watts", type=float, metavar="W", help="mean draw of one device")
    plan.add_argument("--idle", type=float, metavar="SHARE", help="idle share of the time, 0 to 1")
    plan.add_argument("--cores", type=int, metavar="N", help="cores that one run asks for")
    plan.add_argument("--memory-gib", type=float, metavar="GIB", help="memory a run asks for")
    add_rates(parser)
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the figures as JSON; - writes it to stdout, the text to stderr",
    )


def run(args: argparse.Namespace) -> int:
    """Price the plan and print it."""
    from stepscope.cost.facts import read_facts
    from stepscope.cost.plan import price_plan
    from stepscope.cost.text import render

    options = options_of(args)
    facts = None if args.run is None else read_facts(args.run)
    report = price_plan(options, os.environ, facts)
    if args.json is not None:
        import msgspec

        text = msgspec.json.format(msgspec.json.encode(report), indent=1).decode()
        if args.json == "-":
            sys.stdout.write(text + "\n")
            sys.stderr.write(render(report))
            return 0
        try:
            Path(args.json).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", path=args.json) from error
    sys.stdout.write(render(report))
    return 0
