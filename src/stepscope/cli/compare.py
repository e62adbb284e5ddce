"""Hold two runs against each other: is the second faster, is that real, and where does it come from.

Each side is a report.json, a run folder of 'stepscope profile', or a trace. The answer is held against
the spread between steps and the drift inside each run, so that chance is not sold as a gain:

  stepscope compare runs/before runs/after
  stepscope compare main.json branch.json --fail-if-slower 5%     exit status 1 for CI

When BEFORE is a run folder, its gains.json keeps each prediction for a finding that AFTER has no more beside
what was measured.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import GateFailedError, InputError

if TYPE_CHECKING:
    from stepscope.report.compare import Comparison
    from stepscope.report.compare_stats import Ratio

NAME = "compare"
HELP = "hold two runs against each other: is the difference real, where is it from"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("before", metavar="BEFORE", help="report.json, run folder or trace")
    parser.add_argument("after", metavar="AFTER", help="the same, after the change")
    parser.add_argument(
        "--fail-if-slower",
        type=_share,
        metavar="5%",
        help="exit with status 1 when the step of AFTER is longer by more than this, by medians or, where steps come in "
        "bunches, by means",
    )
    parser.add_argument(
        "--only-if-certain",
        action="store_true",
        help="with --fail-if-slower: let a slowdown pass that the steps do not prove",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the comparison as JSON; - writes it to stdout, the text to stderr",
    )


def run(args: argparse.Namespace) -> int:
    """Compare, print, write, and fail if that was asked for."""
    from stepscope import api
    from stepscope.report.compare import compare
    from stepscope.report.compare_text import print_comparison
    from stepscope.report.compare_words import to_json
    from stepscope.report.whole import write_whole

    comparison = compare(api.load_report(args.before), api.load_report(args.after))
    out = sys.stderr if args.json == "-" else sys.stdout
    print_comparison(comparison, file=out)
    kept = _kept(args, comparison)
    if kept is not None:
        print(f"Prediction and measurement are kept in {kept}", file=out)
    if args.json == "-":
        sys.stdout.write(to_json(comparison).decode())
    elif args.json:
        write_whole(Path(args.json), to_json(comparison))
    if args.fail_if_slower is None:
        return 0
    if comparison.ratio is None:
        raise InputError(
            "only one of the two has steps, so nothing can be said about a slowdown",
            path=args.after,
            way_out="record both the same way",
        )
    _gate(comparison.ratio, args.fail_if_slower, is_open=_passes(comparison.certain, args))
    return 0


def _kept(args: argparse.Namespace, comparison: Comparison) -> Path | None:
    """Where the gains are kept; ``None`` without any, where BEFORE is no run folder, or one of somebody else."""
    from stepscope.report.kept_gains import gains_of, keep_gains
    from stepscope.schema.run_folder import is_run_folder

    folder, gains = Path(args.before), gains_of(comparison, args.after)
    if not gains or not is_run_folder(folder) or not os.access(folder, os.W_OK):
        return None
    return keep_gains(folder, gains)


def _passes(certain: bool, args: argparse.Namespace) -> bool:
    """Whether a slowdown may pass because it is not proven."""
    return bool(args.only_if_certain) and not certain


def _gate(ratio: Ratio, share: float, *, is_open: bool) -> None:
    """Raise when the second is slower by more than ``share``."""
    longer = 1 / ratio.headline - 1
    if longer > share and not is_open:
        raise GateFailedError(
            f"the {ratio.by.removesuffix('s')} step is {longer * 100:.1f} % longer, more than the {share * 100:g} % allowed"
        )


def _share(text: str) -> float:
    """``5%`` or ``0.05`` as a share."""
    number, percent, rest = text.strip().partition("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if rest or not 0 <= share < 10 or (not percent and share >= 1):
        raise argparse.ArgumentTypeError(f"{text!r} is no share; write for instance 5%")
    return share
