"""Run a training script, record a few of its steps, and say what limits them.

  stepscope profile train.py --epochs 2
  stepscope profile --stop train.py             end the script once enough is recorded
  stepscope profile --out runs/a -m my.trainer --config c.yaml
  stepscope profile --light train.py            time every step of a long run, without a profiler
  stepscope profile -- torchrun --nproc-per-node 4 train.py
                                                follow a launcher into the processes that train

The script runs as python itself would run it, without any change. Its steps are found by
themselves, from its optimizers and DataLoaders. Some are timed as they are; then a few are
recorded with PyTorch's profiler, and the script goes on. When it has ended, the run is analysed
and the diagnosis printed on stderr; report.html is in the run folder. The script's standard
output and its exit status stay its own. What follows the script belongs to the script.

Beside it runs a small process of ours that looks at CPU, GPU, memory, files and energy about twice
a second, as 'stepscope watch' does, so that the report can lay them beside the steps and tell what
the run cost. Options of the plan and the rates are those of 'stepscope cost'.

Behind "--" stands any command: every Python process below it that trains is recorded, launchers
and loader workers are left alone, and the list of both is printed. Inside a launcher
(torchrun ... -m stepscope profile train.py, srun stepscope profile train.py) each process records
itself, and all write to one run folder.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stepscope.cli.rates import add_plan, checked_words, options_of
from stepscope.errors import OptionError

if TYPE_CHECKING:
    from stepscope.record.script import Script
    from stepscope.schema.companion import Companion

NAME = "profile"
HELP = "run a training script, record a few of its steps, and say what limits them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    # An abbreviation of ours could be an argument of the script's.
    parser.allow_abbrev = False
    parser.usage = "stepscope profile [options] (SCRIPT | -m MODULE | -- COMMAND) [arguments ...]"
    parser.add_argument(
        "--out", metavar="DIR", help="folder to write; default: stepscope-runs/<script>-<time>"
    )
    parser.add_argument(
        "--stop",
        action="store_true",
        help="end the script, with status 0, once its steps are recorded",
    )
    parser.add_argument(
        "--light",
        action="store_true",
        help="only time every step of the whole run, without any profiler, and tell which rank is late",
    )
    _add_counts(parser)
    _add_windows(parser)
    parser.add_argument(
        "--no-analyze", action="store_true", help="record only; see stepscope analyze DIR"
    )
    parser.add_argument(
        "--no-watch",
        action="store_true",
        help="sample no utilisation and energy from a process beside the script",
    )
    add_plan(parser)
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _add_counts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--warmup",
        type=_count,
        metavar="N",
        help="steps to leave out first; default: until they settle",
    )
    parser.add_argument(
        "--clean",
        type=_positive,
        metavar="N",
        help="steps to time without the profiler; default: up to 10",
    )
    parser.add_argument(
        "--active",
        type=_positive,
        metavar="N",
        help="steps to record; default: 2 to 20, by their length",
    )


def _add_windows(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--detail",
        action="store_true",
        help="record two more steps with shapes, memory and stacks, in a trace of their own",
    )
    parser.add_argument(
        "--every",
        type=_seconds,
        metavar="TIME",
        help="record again after that time, for instance 2h or 30min; SIGUSR2 does so at once",
    )
    parser.add_argument(
        "--max-steps", type=_positive, metavar="N", help="most steps to record at a time"
    )
    parser.add_argument(
        "--max-seconds",
        type=_seconds,
        default=120.0,
        metavar="S",
        help="stop recording after so long, at the next step (default: 120)",
    )
    parser.add_argument(
        "--max-megabytes",
        type=_megabytes,
        metavar="MB",
        help="record only as many steps as fit on disk, estimated from a first short trace",
    )


def run(args: argparse.Namespace) -> int:
    """Run the script; the exit status is the script's own."""
    from stepscope.record.job import Job, JobOptions
    from stepscope.record.launch import launch
    from stepscope.record.plan import Plan

    plan = Plan(
        warmup=args.warmup,
        clean=args.clean,
        active=args.active,
        stop=args.stop,
        detail=args.detail,
        every_s=args.every,
        max_steps=args.max_steps,
        max_seconds=args.max_seconds,
        max_megabytes=args.max_megabytes,
        light=args.light,
    )
    rates = checked_words(options_of(args))
    if args.module is None and args.words[:1] == ["--"]:
        from stepscope.record.command import CommandOptions, launch_command

        command = tuple(args.words[1:])
        if not command:
            raise OptionError("give a command behind --")
        return launch_command(
            CommandOptions(
                command=command,
                plan=plan,
                out=args.out,
                analyze=not args.no_analyze,
                companion=_companion(args, command),
                report_options=rates,
            )
        )
    script = _script(args)
    options = JobOptions(
        name=script.name,
        command=script.command,
        plan=plan,
        out=args.out,
        analyze=not args.no_analyze,
        companion=_companion(args, script.command),
        report_options=rates,
    )
    return launch(script, Job(options))


def _companion(args: argparse.Namespace, command: tuple[str, ...]) -> Companion | None:
    """Who samples utilisation and energy beside the run; nobody where only steps are timed."""
    if args.no_watch or args.light:
        return None
    from stepscope.watch.beside import INTERVAL_S, Beside

    return Beside(command, INTERVAL_S)


def _script(args: argparse.Namespace) -> Script:
    from stepscope.record.script import Script

    # What follows a bare "--" of the script's own arguments lands in the second list.
    words = [*(args.module or []), *args.words]
    if not words:
        raise OptionError("give a script, or -m and a module, to profile")
    return Script(words[0], is_module=args.module is not None, arguments=tuple(words[1:]))


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return number


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


UNITS = {"": 1.0, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _seconds(text: str) -> float:
    """A time such as 90, 90s, 30min or 2h."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        seconds = float(digits) * UNITS[text[len(digits) :]]
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError("must be a time such as 90s, 30min or 2h") from None
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError("must be longer than nothing")
    return seconds


def _megabytes(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("must be a number above 0")
    return number
