"""``python -m stepscope`` and the ``stepscope`` command."""

from __future__ import annotations

import sys


def run() -> None:
    """Runs the command line and ends the process with its status."""
    from stepscope.cli.main import main

    sys.exit(main())


if __name__ == "__main__":
    run()
