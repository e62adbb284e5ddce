"""Look at the machine before a run: what the job may use, what torch sees, what is already wrong.

Nothing is trained. Torch is asked in a child process; scratch folders are written to for about a
second each. With a plan (--gpus, --hours, --runs) it also says how much care the plan deserves.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import InputError

if TYPE_CHECKING:
    import argparse

NAME = "check"
HELP = "look at the machine before a run: allocation, torch, data, scratch, obvious mistakes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "script", nargs="?", type=Path, help="the training script; it is read, not run"
    )
    parser.add_argument("--data", type=Path, metavar="PATH", help="the data set's file or folder")
    parser.add_argument(
        "--python", default=sys.executable, metavar="PATH", help="the interpreter that would train"
    )
    parser.add_argument("--site", metavar="NAME", help="a site, a TOML file, or none")
    plan = parser.add_argument_group("the plan, for the level of care")
    plan.add_argument("--gpus", type=int, metavar="N", help="devices in a run")
    plan.add_argument("--hours", type=float, metavar="H", help="hours that one run takes")
    plan.add_argument("--runs", type=int, default=1, metavar="N", help="how many runs (default: 1)")
    plan.add_argument("--device", metavar="NAME", help="for instance H100")
    plan.add_argument("--price", type=float, metavar="AMOUNT", help="price of a device hour")
    plan.add_argument("--currency", metavar="CODE", help="EUR or USD")
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write what was found as JSON; - writes it to stdout, the text to stderr",
    )


def run(args: argparse.Namespace) -> int:
    """Look, and say what was found."""
    from msgspec.structs import replace

    from stepscope.cost.care import care_for
    from stepscope.cost.chosen import chosen_site
    from stepscope.cost.options import CostOptions
    from stepscope.cost.plan import price_plan
    from stepscope.watch.check_text import render
    from stepscope.watch.preflight import preflight

    options = CostOptions(
        gpus=args.gpus,
        hours=args.hours,
        runs=args.runs,
        device=args.device,
        price=args.price,
        currency=args.currency,
        site=args.site or os.environ.get("STEPSCOPE_SITE"),
    )
    site = chosen_site(options, os.environ)
    report = preflight(
        os.environ,
        python=args.python,
        script=args.script,
        data=args.data,
        site=None if site is None else site.site,
    )
    if args.hours is not None:
        if options.device is None and report.torch.devices:
            options = replace(options, device=report.torch.devices[0].name)
        priced = price_plan(options, os.environ)
        report = replace(report, care=care_for(options, priced))
    text = render(report)
    if args.json is None:
        sys.stdout.write(text)
        return 0
    import msgspec

    document = msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n"
    if args.json == "-":
        sys.stdout.write(document)
        sys.stderr.write(text)
        return 0
    sys.stdout.write(text)
    try:
        Path(args.json).write_text(document, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=args.json) from error
    return 0
