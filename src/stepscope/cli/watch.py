"""Look at a job while it runs: CPU, GPU, memory, files, energy, and obvious mistakes.

  stepscope watch -- python train.py         run a command and watch it; its output and status stay its own
  stepscope watch --pid 4711                 watch a process that is already running
  stepscope watch --job 123456               watch a running Slurm job on all its nodes
  stepscope watch --summary RUN              tell a watched run again, also of one that was killed

Nothing is installed, nothing in the program changes, no rights are needed. On a terminal a few lines
at its foot show what happens; at the end a summary goes to standard error. Samples are appended to the
run folder as they come. Python processes of the command that train with PyTorch time their own steps
(10 to 25 microseconds a step, no profiler), unless --no-steps is given; of several ranks the late one is named.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path

from stepscope.errors import InputError, OptionError

NAME = "watch"
HELP = "look at a job while it runs: CPU, GPU, memory, energy, obvious mistakes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    # An abbreviation of ours could be an argument of the command's.
    parser.allow_abbrev = False
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--pid", type=int, metavar="PID", help="a process that is already running")
    what.add_argument("--job", metavar="JOBID", help="a running Slurm job, on all its nodes")
    what.add_argument("--job-here", metavar="JOBID", help=argparse.SUPPRESS)
    what.add_argument(
        "--summary", type=Path, metavar="RUN", help="tell the samples of a run folder again"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="run folder; default: under stepscope-runs"
    )
    parser.add_argument(
        "--interval",
        type=float,
        default=0.5,
        metavar="S",
        help="seconds between samples (default: 0.5)",
    )
    parser.add_argument(
        "--live",
        action=argparse.BooleanOptionalAction,
        help="the live view (default: on a terminal)",
    )
    parser.add_argument(
        "--no-steps",
        action="store_true",
        help="leave the training steps of the command's Python processes untimed",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="-- COMMAND with its arguments")


def run(args: argparse.Namespace) -> int:
    """Watch; for a command the exit status is the command's own."""
    command = tuple(args.command[1:] if args.command[:1] == ["--"] else args.command)
    others = [args.pid, args.job, args.job_here, args.summary]
    chosen = sum(value is not None for value in others)
    if bool(command) + chosen != 1:
        raise OptionError("say what to watch: -- COMMAND, or one of --pid, --job and --summary")
    if not 0.05 <= args.interval <= 3600:
        raise OptionError(f"--interval is between 0.05 and 3600 seconds, not {args.interval}")
    if args.summary is not None:
        return tell(args.summary)
    if args.job is not None:
        from stepscope.watch.job import watch_job

        out = args.out or Path("stepscope-runs") / f"job-{args.job}"
        return watch_job(args.job, out.absolute(), args.interval)
    from stepscope.watch.session import (
        WatchOptions,
        watch_command,
        watch_job_here,
        watch_process,
    )

    if command and not args.no_steps:
        return _watch_with_steps(command, args)
    options = WatchOptions(out=args.out, interval_s=args.interval, live=args.live)
    if args.pid is not None:
        return watch_process(args.pid, options, os.environ)
    if args.job_here is not None:
        return watch_job_here(args.job_here, options, os.environ)
    return watch_command(command, options, os.environ)


def tell(folder: Path) -> int:
    """Tells a watched run again from its samples."""
    from stepscope.watch.closing import summary_of, with_accounting, write
    from stepscope.watch.summary_text import render

    summary = with_accounting(summary_of(folder))
    try:
        write(folder, summary)
    except OSError as error:
        sys.stderr.write(f"stepscope: watch.json was not written: {error.strerror}\n")
    sys.stdout.write(render(summary, folder) + _late_ranks(folder))
    return 0


def _watch_with_steps(command: tuple[str, ...], args: argparse.Namespace) -> int:
    """Watch a command whose processes that train time their steps."""
    from stepscope.record.injection import LIGHT_PLAN, RUN_VARIABLE, recorded_below
    from stepscope.watch.session import WatchOptions, run_folder, watch_command

    folder = run_folder(args.out, os.environ)
    environ = dict(os.environ)
    # Below 'stepscope profile -- COMMAND' the processes are recorded already.
    if RUN_VARIABLE not in environ and _can_take_steps(folder):
        environ = recorded_below(os.environ, folder, LIGHT_PLAN)
    options = WatchOptions(out=folder, interval_s=args.interval, live=args.live, more=_late_ranks)
    try:
        return watch_command(command, options, environ)
    except OptionError:
        # Nothing ran, so nothing is to be left behind.
        with contextlib.suppress(OSError):
            folder.rmdir()
        raise


def _can_take_steps(folder: Path) -> bool:
    """Whether ranks can write to the folder, and no other run's are in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    is_shared = "SLURM_STEP_ID" in os.environ
    return os.access(folder, os.W_OK) and (is_shared or not any(folder.glob("rank*")))


def _late_ranks(folder: Path) -> str:
    """Which of several ranks is late and by what; ``""`` for one process."""
    from stepscope.schema.light import light_files

    if len(light_files(folder)) < 2:
        return ""
    # Comparing ranks needs more memory than all of the watching before.
    from stepscope.job.light import light_report
    from stepscope.report.light_text import rank_lines

    try:
        return "\n".join(rank_lines(light_report(folder))) + "\n"
    except InputError:
        return ""
