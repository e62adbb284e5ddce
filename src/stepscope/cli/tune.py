"""Try changes on a training script and measure what each gains.

  stepscope tune train.py
  stepscope tune --only workers train.py --epochs 2
  stepscope tune --vary "--batch-size=32,64,128" train.py

The script is run again and again for a few steps, unchanged, while PyTorch is told from outside what to
do otherwise: loader workers, pinned memory, threads, mixed precision and so on. Trials with and without
a change alternate until the difference is certain or the budget is spent. The result stands in tune.json
of the folder, measured gain beside predicted gain. What follows the script belongs to the script.
"""

from __future__ import annotations

import argparse
import sys

from stepscope.errors import MissingExtraError, OptionError

NAME = "tune"
HELP = "try changes on a training script and measure what each gains"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.allow_abbrev = False
    parser.usage = "stepscope tune [options] (SCRIPT | -m MODULE) [arguments of the script ...]"
    parser.add_argument(
        "--budget",
        type=_seconds,
        default=600.0,
        metavar="S",
        help="seconds to spend at most; default: 600",
    )
    parser.add_argument(
        "--steps", type=int, metavar="N", help="steps to time in a trial; default: up to 24"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WORD",
        help="only changes whose name holds this word; may be repeated",
    )
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="OPTION=A,B",
        help="an option of the script and values to try; may be repeated",
    )
    parser.add_argument(
        "--out", metavar="DIR", help="folder to write; default: stepscope-runs/tune-<script>-<time>"
    )
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Run the experiment and print it."""
    import importlib.util
    from pathlib import PurePath

    from stepscope.experiment import Order, tune
    from stepscope.experiment.text import lines_of
    from stepscope.record.output import create_output

    words = (*(("-m", *args.module) if args.module is not None else ()), *args.words)
    if len(words) < (2 if args.module is not None else 1):
        raise OptionError("give a script, or -m and a module, to try changes on")
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError("trying changes needs PyTorch, which this Python does not have")
    name = words[1] if args.module is not None else PurePath(words[0]).stem
    folder = create_output(f"tune-{name}", args.out)
    order = Order(
        command=words,
        folder=folder,
        budget_s=args.budget,
        steps=args.steps,
        only=tuple(args.only),
        vary=tuple(args.vary),
        tell=lambda line: print(f"stepscope: {line}", file=sys.stderr, flush=True),
    )
    print("\n".join(lines_of(tune(order))))
    print(f"\nKept in {folder}")
    return 0


def _seconds(text: str) -> float:
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError("must be more than 0")
    return number
