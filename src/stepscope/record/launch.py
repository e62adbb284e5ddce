"""``stepscope profile``: runs the script with a recorder in its process."""

from __future__ import annotations

import atexit
import importlib.util
import os
import signal
import sys
from typing import TYPE_CHECKING

from stepscope.errors import MissingExtraError
from stepscope.record.script import run

if TYPE_CHECKING:
    from stepscope.record.job import Job
    from stepscope.record.script import Script


def launch(script: Script, job: Job) -> int:
    """Run the script inside the job; the script's own exit status.

    Raises:
        MissingExtraError: PyTorch is not installed.
        OptionError: There is no such script, or the output folder is taken.
    """
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError(
            "profiling needs PyTorch, which this Python does not have: install it as your site "
            "recommends, or with pip install 'stepscope[record]'"
        )
    interrupt = _EndByInterrupt()
    ending = run(script, job.begin)
    interrupt.is_due = ending.was_interrupted
    job.end(ending.status)
    return ending.status


class _EndByInterrupt:
    """Ends the process by SIGINT after everything else, as Python does when Ctrl-C ended the script.

    Registered before the script runs, so that it comes after whatever the script has registered.
    """

    def __init__(self) -> None:
        self.is_due = False
        atexit.register(self._finish)

    def _finish(self) -> None:
        if self.is_due:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
