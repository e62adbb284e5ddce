"""Train a small network for a few seconds with a planted bottleneck, and find it.

The training program is an ordinary one: it draws PNG images into a temporary folder and trains on
them, reading and decoding each image in the training process. 'stepscope demo' runs it as
'stepscope profile' would run yours, and prints the diagnosis. Needs PyTorch and Pillow
(pip install 'stepscope[record]'), no GPU, and less than a minute.

To see what the cure does, run it again with two loader workers: stepscope demo --workers 2
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from stepscope.errors import MissingExtraError

if TYPE_CHECKING:
    import argparse

NAME = "demo"
HELP = "see it work: train a small network through a slow loader, and diagnose it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--out", metavar="DIR", help="folder to write; default: stepscope-runs/demo-<time>"
    )
    parser.add_argument(
        "--workers", type=int, default=0, metavar="N", help="loader workers (default: 0)"
    )
    parser.add_argument(
        "--steps", type=int, default=50, metavar="N", help="training steps (default: 50)"
    )


def run(args: argparse.Namespace) -> int:
    """Train and diagnose; 0 only when both went well."""
    from stepscope.lab.start import demo_script
    from stepscope.record.job import Job, JobOptions
    from stepscope.record.launch import launch
    from stepscope.record.plan import Plan
    from stepscope.record.script import Script
    from stepscope.watch.beside import INTERVAL_S, Beside

    if importlib.util.find_spec("PIL") is None:
        raise MissingExtraError(
            "the demo draws images with Pillow, which this Python does not have: "
            "pip install 'stepscope[record]'"
        )
    script = Script(
        str(demo_script()),
        is_module=False,
        arguments=("--workers", str(args.workers), "--steps", str(args.steps)),
    )
    options = JobOptions(
        name="demo",
        command=script.command,
        plan=Plan(),
        out=args.out,
        companion=Beside(script.command, INTERVAL_S),
        report_fd=1,
    )
    job = Job(options)
    return launch(script, job) or job.analysis_status or 0
