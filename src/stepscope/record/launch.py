"""``stepscope profile``: prepares, runs the script, and sees to what comes after."""

from __future__ import annotations

import atexit
import importlib.util
import os
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.errors import MissingExtraError
from stepscope.record import script as scripts
from stepscope.record.analysis_child import analyze_run
from stepscope.record.guard import Guard
from stepscope.record.journal import Journal
from stepscope.record.output import create_output
from stepscope.record.recorder import Recorder
from stepscope.record.summary import summary_of
from stepscope.record.voice import Voice

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.record.plan import Plan
    from stepscope.record.script import Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to profile a script.

    Attributes:
        script: What to run.
        plan: What to record.
        out: Folder to write to; ``None`` for a fresh one under ``stepscope-runs``.
        analyze: Whether to analyse the run afterwards.
        report_fd: Where the report is printed.
    """

    script: Script
    plan: Plan
    out: str | None = None
    analyze: bool = True
    report_fd: int = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    Attributes:
        status: The script's own exit status.
        folder: The run folder; ``None`` when nothing could be written.
        analysis_status: Exit status of the analysis; ``None`` when there was none.
    """

    status: int
    folder: Path | None
    analysis_status: int | None


def launch(request: Launch) -> Outcome:
    """Run the script with a recorder in its process.

    Raises:
        MissingExtraError: PyTorch is not installed.
        OptionError: There is no such script, or the output folder is taken.
    """
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError(
            "profiling needs PyTorch, which this Python does not have: install it as your site "
            "recommends, or with pip install 'stepscope[record]'"
        )
    job = _Job(request)
    interrupt = _EndByInterrupt()
    ending = scripts.run(request.script, job.begin)
    interrupt.is_due = ending.was_interrupted
    return job.end(ending.status)


class _Job:
    """The recording around one run of the script."""

    def __init__(self, request: Launch) -> None:
        self._request = request
        self._voice = Voice()
        self._guard = Guard(self._voice)
        self._folder: Path | None = None
        self._journal: Journal | None = None
        self._recorder: Recorder | None = None

    def begin(self) -> None:
        """Make the folder and begin to listen; when that fails, the script runs unrecorded."""
        script = self._request.script
        try:
            self._folder = create_output(script.name, self._request.out)
            rank = int(os.environ.get("RANK", "0"))
            self._journal = Journal(self._folder, script.command, rank)
        except OSError as error:
            self._voice.warn(f"nothing can be recorded, the script runs all the same: {error}")
            return
        self._recorder = Recorder(self._request.plan, self._journal, self._guard)
        self._guard.call(self._recorder.attach)

    def end(self, status: int) -> Outcome:
        """Write the rest and have it analysed."""
        journal, recorder, folder = self._journal, self._recorder, self._folder
        if journal is None or recorder is None or folder is None:
            return Outcome(status, None, None)
        self._guard.finish(recorder.finish)
        Guard(self._voice).finish(lambda: journal.finish(status))
        recording = recorder.recording()
        for line in summary_of(recording, folder):
            self._voice.say(line)
        if not self._request.analyze or recording.window is None:
            return Outcome(status, folder, None)
        try:
            analysis = analyze_run(folder, report_fd=self._request.report_fd)
        except (OSError, KeyboardInterrupt) as error:
            self._voice.warn(f"the run was not analysed: {type(error).__name__} {error}")
            return Outcome(status, folder, None)
        return Outcome(status, folder, analysis)


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
