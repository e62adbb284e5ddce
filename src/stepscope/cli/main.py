"""The command line: one module a command, and the only place where an error becomes a line and a status."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, Protocol, cast

from stepscope._version import __version__
from stepscope.errors import StepscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMANDS = ("profile", "analyze", "compare", "tune", "demo", "watch", "check", "cost", "lab")
"""Modules of this package in the order in which ``--help`` shows them."""

INTERRUPTED = 130
OWN_FAULT = 3

DESCRIPTION = """\
stepscope tells why a PyTorch training step takes as long as it does and what to change.

  stepscope demo                    see it work on a small training script, in a minute
  stepscope profile train.py        profile your own script; it needs no change
  stepscope analyze trace.json.gz   diagnose a trace that torch.profiler wrote anywhere
"""

EPILOG = """\
exit status: 0 done, 1 a gate failed (compare), 2 unusable input or options, 3 a fault of
stepscope itself; under profile the script's own status wins. 'stepscope COMMAND --help'
explains each command.
"""


class Command(Protocol):
    """What a command's module offers; it imports nothing heavy before ``run``."""

    NAME: str
    HELP: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line and names the way out."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}; '{self.prog} --help' explains the options\n")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(
        prog="stepscope",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"stepscope {__version__}")
    commands = top.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True
    )
    for name in COMMANDS:
        command = _command(name)
        own = commands.add_parser(
            command.NAME,
            help=command.HELP,
            description=sys.modules[f"stepscope.cli.{name}"].__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(own)
        # Underscored, so that no argument of a command can take its place.
        own.set_defaults(_run=command.run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: Without the program's name; those of the process when None.

    Returns:
        The exit status.
    """
    args = parser().parse_args(arguments)
    try:
        return int(args._run(args))  # noqa: SLF001  (our own)
    except StepscopeError as error:
        print(f"stepscope: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print("stepscope: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone, as with `| head`; leave no complaint at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("STEPSCOPE_DEBUG"):
            raise
        print(
            f"stepscope: a fault of stepscope itself: {type(error).__name__}: {error}; "
            "set STEPSCOPE_DEBUG=1 to see where, and please report it with the input",
            file=sys.stderr,
        )
        return OWN_FAULT


def _command(name: str) -> Command:
    return cast("Command", import_module(f"stepscope.cli.{name}"))
