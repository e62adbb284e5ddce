"""Learn it: copy the tutorial's notebooks into a folder, and open JupyterLab there.

  stepscope lab                                on this machine, or inside the Slurm job that you are in
  stepscope lab --slurm --partition gpu_a100 --gpus 1 --time 01:00:00
                                               in a job: submits it, waits, prints the ssh line
  stepscope lab --slurm --print                only print the job script

Notebooks that are in the folder already stay as they are. JupyterLab listens on 127.0.0.1 only and asks for
a token. Ctrl-C ends it, and the job that was submitted for it. Needs JupyterLab and PyTorch
(pip install 'stepscope[lab,record]').
"""

from __future__ import annotations

import argparse
import getpass
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from stepscope.lab.job import JobRequest
    from stepscope.lab.server import ServerInfo
    from stepscope.schema.site import Site

NAME = "lab"
HELP = "learn it: the tutorial's notebooks in JupyterLab, here or in a Slurm job"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path("stepscope-lab"),
        help="where the notebooks go (default: stepscope-lab)",
    )
    parser.add_argument("--copy", action="store_true", help="only copy the notebooks")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.add_argument(
        "--port", type=_port, default=0, metavar="N", help="port (default: a free one)"
    )
    parser.add_argument(
        "--idle-minutes",
        type=_count,
        metavar="N",
        help="stop notebooks that idle so long, then the server; 0 for never (default: 30 in a job)",
    )
    job = parser.add_argument_group("as a Slurm job")
    job.add_argument("--slurm", action="store_true", help="submit a job for it")
    job.add_argument("--print", action="store_true", help="only print the job script")
    job.add_argument("--detach", action="store_true", help="leave the job running")
    job.add_argument("--partition", metavar="NAME", help="partition")
    job.add_argument("--gpus", type=_count, metavar="N", help="GPUs")
    job.add_argument("--cores", type=_count, metavar="N", help="cores (default: the GPUs' share)")
    job.add_argument("--memory", metavar="SIZE", help="memory (default: the GPUs' share)")
    job.add_argument("--time", default="01:00:00", help="time limit (default: 01:00:00)")
    job.add_argument("--account", metavar="NAME", help="account to charge")
    job.add_argument(
        "--site", metavar="NAME", help="a site, or a TOML file (default: told by Slurm)"
    )
    job.add_argument(
        "--sbatch", action="append", default=[], metavar="OPTION", help="further option of sbatch"
    )


def run(args: argparse.Namespace) -> int:
    """Copy, start, wait; 0 when it ended as it should."""
    from stepscope.lab.notebooks import copy_to
    from stepscope.lab.server import need_jupyter

    if args.print and not args.slurm:
        raise OptionError("--print prints a job script, so it needs --slurm")
    folder = args.folder.absolute()
    if args.slurm:
        request, site = _request(args, folder), _site(args)
        if args.print:
            from stepscope.lab.job import script

            sys.stdout.write(script(request, site))
            return 0
    if not args.copy:
        need_jupyter()
    written = copy_to(folder)
    say(f"{len(written)} notebooks copied to {folder}" if written else f"notebooks in {folder}")
    if args.copy:
        return 0
    if args.slurm:
        return _in_a_job(request, site, detach=args.detach)
    return _here(args, folder, os.environ)


def say(text: str) -> None:
    """One line for the reader, at once."""
    print(text, flush=True)


def _here(args: argparse.Namespace, folder: Path, environ: Mapping[str, str]) -> int:
    """JupyterLab as a child of this process, until it ends or we are told to."""
    from stepscope.lab.job import runtime_of
    from stepscope.lab.server import Server, server_command

    job_id = environ.get("SLURM_JOB_ID", "")
    idle = args.idle_minutes if args.idle_minutes is not None else (30 if job_id else 0)
    opens = not (args.no_browser or job_id)
    command = server_command(folder, port=args.port, idle_minutes=idle, opens=opens)
    runtime = runtime_of(folder, job_id or f"{os.getpid()}")
    before = signal.signal(signal.SIGTERM, _end)
    try:
        with Server(command, runtime, environ) as server:
            _tell(server.info(), environ if job_id else None)
            return server.wait()
    except KeyboardInterrupt:
        say("\nended")
        return 0
    finally:
        signal.signal(signal.SIGTERM, before)
        _remove(runtime)


def _tell(info: ServerInfo, job: Mapping[str, str] | None) -> None:
    from stepscope.lab.job import tunnel

    if job is None:
        say(f"JupyterLab:  {info.address()}")
    else:
        line = tunnel(
            user=getpass.getuser(),
            login=job.get("SLURM_SUBMIT_HOST", ""),
            node=socket.gethostname(),
            port=info.port,
        )
        _two_lines(line, info)
    say("Ctrl-C ends it")


def _two_lines(line: str, info: ServerInfo) -> None:
    say(f"on your own machine:  {line}")
    say(f"then open:            {info.address()}")


def _in_a_job(request: JobRequest, site: Site | None, *, detach: bool) -> int:
    """Submit, wait, tell; stay until the job ends, and end it when we are told to end."""
    from stepscope.lab.job import charge, script, tunnel
    from stepscope.lab.submitted import submit

    job = submit(script(request, site), request.folder)
    cost = charge(request, site)
    say(f"job {job.job_id} submitted{'; ' + cost if cost else ''}")
    before = signal.signal(signal.SIGTERM, _end)
    leave = False
    try:
        info, node = job.wait(say)
        full = socket.getfqdn()
        login = socket.gethostname() if full.startswith("localhost") else full
        _two_lines(tunnel(user=getpass.getuser(), login=login, node=node, port=info.port), info)
        if detach:
            leave = True
            say(f"end it with:          scancel {job.job_id}")
            return 0
        say("Ctrl-C ends the job")
        job.until_end()
        say(f"job {job.job_id} has ended")
    except KeyboardInterrupt:
        say(f"\nending job {job.job_id}")
    finally:
        signal.signal(signal.SIGTERM, before)
        if not leave:
            job.end()
    return 0


def _request(args: argparse.Namespace, folder: Path) -> JobRequest:
    from stepscope.lab.job import JobRequest

    return JobRequest(
        folder=folder,
        partition=args.partition,
        gpus=args.gpus,
        cores=args.cores,
        memory=args.memory,
        time=args.time,
        account=args.account,
        more=tuple(args.sbatch),
        idle_minutes=30 if args.idle_minutes is None else args.idle_minutes,
    )


def _site(args: argparse.Namespace) -> Site | None:
    from stepscope.cost.sites import detect_site, find_site

    found = detect_site(os.environ) if args.site is None else find_site(args.site)
    return None if found is None else found.site


def _end(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return number


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError("a port is between 0 and 65535")
    return number
