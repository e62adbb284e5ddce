"""``python -m stepscope`` and the ``stepscope`` command."""

from __future__ import annotations

import gc
import sys

READERS = frozenset({"analyze", "compare"})
"""Commands for which most of the package is imported."""


def run() -> None:
    """Runs the command line and ends the process with its status."""
    # A start of the program, not an import of this module, pays for the command line.
    from stepscope.cli.main import INTERRUPTED, main  # noqa: PLC0415

    words = sys.argv[1:]
    if words and words[0] in READERS and not {"-h", "--help"}.intersection(words):
        try:
            import_readers()
        except ImportError:
            pass  # The command imports them again, and tells what is wrong.
        except KeyboardInterrupt:
            sys.stderr.write("stepscope: interrupted\n")
            sys.exit(INTERRUPTED)
    sys.exit(main())


def import_readers() -> None:
    """Imports what reads and diagnoses, without looking for garbage meanwhile, nor in it later.

    Modules stay until the program ends, and looking through what they are made of takes an eighth of the
    time in which a small trace is diagnosed.
    """
    gc.disable()
    try:
        import stepscope.api  # noqa: F401, PLC0415
    finally:
        gc.freeze()
        gc.enable()


if __name__ == "__main__":
    run()
