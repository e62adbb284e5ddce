"""``python -m stepscope`` and the ``stepscope`` command."""

from __future__ import annotations

import sys


def run() -> None:
    """Runs the command line and ends the process with its status."""
    # A start of the program, not an import of this module, pays for the command line.
    from stepscope.cli.main import main  # noqa: PLC0415

    sys.exit(main())


if __name__ == "__main__":
    run()
