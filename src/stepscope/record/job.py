"""One recording from its folder to its report, around a whole script or around a part of one."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, ClassVar

from stepscope.record.analysis_child import analyze_run
from stepscope.record.guard import Guard
from stepscope.record.journal import Journal
from stepscope.record.light import LightRecorder
from stepscope.record.light_journal import LightJournal
from stepscope.record.others import wait_for_others
from stepscope.record.output import claim_rank, create_output, join_output
from stepscope.record.place import place_of
from stepscope.record.recorder import Recorder
from stepscope.record.summary import summary_of
from stepscope.record.voice import Voice

if TYPE_CHECKING:
    from types import FrameType

    from stepscope.record.plan import Plan
    from stepscope.schema.companion import Companion


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
        joins: Whether ``out`` is a run folder that a launcher has made for several processes.
        begin_ns: When the process began, on the clock of ``perf_counter_ns``; ``None`` for now.
        import_ns: How long importing torch took, where that has happened already; ``None`` otherwise.
        companion: Goes along with the recording in a process of its own; ``None`` for nobody.
        report_options: More arguments for ``stepscope analyze``.
    """

    name: str
    command: tuple[str, ...]
    plan: Plan
    out: str | None = None
    analyze: bool = True
    report_fd: int = 2
    joins: bool = False
    begin_ns: int | None = None
    import_ns: int | None = None
    companion: Companion | None = None
    report_options: tuple[str, ...] = ()


class Job:
    """A recording in this process, of which there is at most one at a time.

    Attributes:
        current: The one that records now; ``None`` without.
        folder: The run folder; ``None`` when nothing could be written.
        rank: This process's part of it; ``None`` likewise.
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
        self.rank: int | None = None
        self._place = place_of(os.environ)
        self.analysis_status: int | None = None

    def begin(self) -> None:
        """Make the folder and begin to listen; when that fails, the script runs unrecorded.

        Raises:
            OptionError: The chosen folder is taken.
        """
        options, place = self._options, self._place
        shares = options.joins or place.is_one_of_many
        try:
            self.folder = (
                (Path(options.out) if options.joins and options.out else None)
                or (join_output(options.name, options.out, place) if shares else None)
                or create_output(options.name, options.out)
            )
            self.rank = claim_rank(self.folder, place.rank if shares else 0)
            self._recorder = self._made(self.folder, self.rank)
        except OSError as error:
            # Steps are timed beside a watch without having been asked for, so their absence is no news.
            if not (options.plan.light and options.joins):
                self._voice.warn(f"nothing can be recorded, the script runs all the same: {error}")
            self.folder = self.rank = None
            return
        if options.companion is not None:
            options.companion.begin(self.folder, os.getpid(), self.rank, place.world_size)
        if options.import_ns is not None:
            self._recorder.account.torch_imported(options.import_ns)
        Job.current = self
        if not options.plan.light:
            self._guard.call(self._listen_to_signal)
        self._guard.call(self._recorder.attach)

    def _made(self, folder: Path, rank: int) -> Recorder:
        """The recorder that the plan asks for, and its journal."""
        plan, begin_ns = self._options.plan, self._options.begin_ns
        command, joins = self._options.command, self._options.joins
        if plan.light:
            light = LightJournal(folder, command, rank, is_of_a_launcher=joins)
            self._journal = light
            return LightRecorder(plan, light, self._guard, begin_ns)
        self._journal = Journal(folder, command, rank, is_of_a_launcher=joins)
        return Recorder(plan, self._journal, self._guard, begin_ns)

    @property
    def is_light(self) -> bool:
        """Whether it only times steps, which an explicit recording takes the place of."""
        return self._options.plan.light

    def _listen_to_signal(self) -> None:
        """SIGUSR2 opens a window, unless the script has a use for it; only a main thread may say so."""
        number = getattr(signal, "SIGUSR2", None)
        if number is None or current_thread() is not main_thread():
            return
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, self._signalled)

    def _leave_signal(self) -> None:
        number = getattr(signal, "SIGUSR2", None)
        # Two ways of asking for a bound method give two objects, which are equal.
        if number is not None and signal.getsignal(number) == self._signalled:
            signal.signal(number, signal.SIG_DFL)

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        if self._recorder is not None:
            self._guard.call(self._recorder.ask_for_window)

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
        self._leave_signal()
        journal, recorder, folder = self._journal, self._recorder, self.folder
        self._journal = None
        if journal is None or recorder is None or folder is None:
            return
        self._guard.finish(recorder.finish)
        Guard(self._voice).finish(lambda: journal.finish(status))
        if self._options.companion is not None:
            self._options.companion.end()
        if self._options.joins or (self._place.is_one_of_many and self.rank != 0):
            return
        recording = recorder.recording()
        for line in summary_of(recording, folder):
            self._voice.say(line)
        has_steps = self.is_light and recording.steps_seen > 0
        if self._options.analyze and (has_steps or recording.window is not None):
            wait_for_others(folder, self._place.world_size)
            self._analyze(folder)

    def _analyze(self, folder: Path) -> None:
        try:
            self.analysis_status = analyze_run(
                folder,
                self._options.report_options,
                report_fd=self._options.report_fd,
                light=self.is_light,
            )
        except (OSError, KeyboardInterrupt) as error:
            self._voice.warn(f"the run was not analysed: {type(error).__name__} {error}")
