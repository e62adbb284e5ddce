"""Runs the programs beside this file, plainly and under the recorder."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from stepscope.schema.run_folder import RunFolder, load_run

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Ended:
    """What a process left: exit status, standard output and error, and the run folder if any."""

    status: int
    stdout: str
    stderr: str
    folder: Path | None = None

    @property
    def run(self) -> RunFolder:
        assert self.folder is not None
        return load_run(self.folder)

    @property
    def recording(self):
        recording = self.run.ranks[0].recording
        assert recording is not None
        return recording

    @property
    def codes(self):
        return {notice.code for notice in self.recording.notices}


def start(command, cwd=PROGRAMS, **options):
    """A process whose output is caught."""
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process, folder=None, stdin=""):
    stdout, stderr = process.communicate(stdin, timeout=120)
    return Ended(process.returncode, stdout, stderr, folder)


def plain(*command, stdin="some input\n"):
    """Run by Python alone."""
    return finish(start(command), stdin=stdin)


def profile_command(folder, *command, options=()):
    # What samples beside the run is nobody's business here and would take time from all tests.
    own = ["--no-analyze", "--no-watch", "--out", folder]
    return ["-m", "stepscope", "profile", *own, *options, *command]


def profiled(folder, *command, options=(), stdin="some input\n"):
    """Run under ``stepscope profile``."""
    process = start(profile_command(folder, *command, options=options))
    return finish(process, Path(folder), stdin)
