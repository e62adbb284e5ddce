"""One recording from its folder to its report, around a whole script or around a part of one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

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


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """What to record, and where.

    Attributes:
        name: Beginning of the run folder's name.
        command: The command line of the script.
        plan: How many steps.
        out: Folder to write to; ``None`` for a fresh one under ``stepscope-runs``.
        analyze: Whether to analyse the run afterwards.
        report_fd: Where the report is printed; stderr, unless the whole process is ours.
    """

    name: str
    command: tuple[str, ...]
    plan: Plan
    out: str | None = None
    analyze: bool = True
    report_fd: int = 2


class Job:
    """A recording in this process, of which there is at most one at a time.

    Attributes:
        current: The one that records now; ``None`` without.
        folder: The run folder; ``None`` when nothing could be written.
        analysis_status: Exit status of the analysis; ``None`` when there was none.
    """

    current: ClassVar[Job | None] = None

    def __init__(self, options: JobOptions) -> None:
        self._options = options
        self._voice = Voice()
        self._guard = Guard(self._voice)
        self._journal: Journal | None = None
        self._recorder: Recorder | None = None
        self.folder: Path | None = None
        self.analysis_status: int | None = None

    def begin(self) -> None:
        """Make the folder and begin to listen; when that fails, the script runs unrecorded.

        Raises:
            OptionError: The chosen folder is taken.
        """
        try:
            self.folder = create_output(self._options.name, self._options.out)
            rank = int(os.environ.get("RANK", "0"))
            self._journal = Journal(self.folder, self._options.command, rank)
        except OSError as error:
            self._voice.warn(f"nothing can be recorded, the script runs all the same: {error}")
            self.folder = None
            return
        self._recorder = Recorder(self._options.plan, self._journal, self._guard)
        Job.current = self
        self._guard.call(self._recorder.attach)

    def step(self) -> None:
        """The user marks the end of a step."""
        if self._recorder is not None:
            self._guard.call(self._recorder.step)

    def end(self, status: int | None) -> None:
        """Write the rest and have it analysed.

        Args:
            status: The script's exit status; ``None`` when it goes on.
        """
        Job.current = None
        journal, recorder, folder = self._journal, self._recorder, self.folder
        if journal is None or recorder is None or folder is None:
            return
        self._guard.finish(recorder.finish)
        Guard(self._voice).finish(lambda: journal.finish(status))
        recording = recorder.recording()
        for line in summary_of(recording, folder):
            self._voice.say(line)
        if self._options.analyze and recording.window is not None:
            self._analyze(folder)

    def _analyze(self, folder: Path) -> None:
        try:
            self.analysis_status = analyze_run(folder, report_fd=self._options.report_fd)
        except (OSError, KeyboardInterrupt) as error:
            self._voice.warn(f"the run was not analysed: {type(error).__name__} {error}")
