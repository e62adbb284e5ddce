"""A submitted lab: waiting for it to start and to answer, and ending it."""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.errors import OptionError, StepscopeError
from stepscope.lab.job import HOST_NAME, LOG_NAME, runtime_of
from stepscope.lab.server import read_info
from stepscope.watch.slurm_limit import ask

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stepscope.lab.server import ServerInfo

POLL_S = 1.0
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SUSPENDED")
ALIVE = (*WAITING, "RUNNING", "COMPLETING")


@dataclass(frozen=True, slots=True)
class Submitted:
    """A job of ours.

    Attributes:
        job_id: Its number.
        folder: The notebooks' folder.
    """

    job_id: str
    folder: Path

    def state(self) -> str:
        """Its state as Slurm calls it; ``""`` when it is gone."""
        told = ask("squeue", "--noheader", "--format=%T", f"--jobs={self.job_id}").split()
        return told[0] if told else ""

    def wait(self, say: Callable[[str], None]) -> tuple[ServerInfo, str]:
        """Waits until its server answers.

        Returns:
            The server, and the name of the machine that it runs on.

        Raises:
            StepscopeError: The job ended before.
        """
        last = ""
        runtime = runtime_of(self.folder, self.job_id)
        while True:
            state = self.state()
            if state and state != last:
                say(f"job {self.job_id}: {state.lower()}{self._reason(state)}")
                last = state
            info = read_info(runtime)
            if info is not None:
                return info, (runtime / HOST_NAME).read_text(encoding="utf-8").strip()
            if state not in ALIVE:
                log = self.folder / LOG_NAME.format(self.job_id)
                raise StepscopeError(f"job {self.job_id} ended before JupyterLab was up; see {log}")
            time.sleep(POLL_S)

    def until_end(self) -> None:
        """Waits until the job has ended."""
        while self.state() in ALIVE:
            time.sleep(5 * POLL_S)

    def end(self) -> None:
        """Ends the job, and waits until Slurm has let it go."""
        ask("scancel", self.job_id)
        limit = time.monotonic() + 30
        while self.state() in ALIVE and time.monotonic() < limit:
            time.sleep(POLL_S / 2)
        shutil.rmtree(runtime_of(self.folder, self.job_id), ignore_errors=True)

    def _reason(self, state: str) -> str:
        if state not in WAITING:
            return ""
        reason = ask("squeue", "--noheader", "--format=%r", f"--jobs={self.job_id}").strip()
        return f" ({reason})" if reason and reason != "None" else ""


def submit(text: str, folder: Path) -> Submitted:
    """Gives a job script to Slurm.

    Raises:
        OptionError: There is no Slurm here, or it refuses the job, in its own words.
    """
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise OptionError("--slurm needs Slurm's sbatch, which this machine does not have")
    done = subprocess.run(  # noqa: S603
        [sbatch, "--parsable"], input=text, capture_output=True, text=True, check=False, cwd=folder
    )
    if done.returncode:
        words = done.stderr.strip().splitlines()
        raise OptionError(f"Slurm refuses the job: {words[-1] if words else 'without a word'}")
    return Submitted(done.stdout.strip().partition(";")[0], folder)
