"""What stepscope says inside the user's process: on stderr, never on stdout."""

from __future__ import annotations

import contextlib
import sys


class Voice:
    """Prints lines that begin with ``stepscope:`` on the stderr that the process started with.

    The script may replace ``sys.stderr`` or close it; neither is a reason to fail.

    Args:
        quiet: Whether to keep silent about everything but failures.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def say(self, text: str) -> None:
        """Tell the user something that went as planned."""
        if not self._quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Tell the user something that did not."""
        stream = sys.__stderr__
        if stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            stream.write(f"stepscope: {text}\n")
            stream.flush()
