"""Watching processes that somebody else started."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from stepscope.watch.loop import Loop

LAST_BREATH_S = 0.2
LOOK_EVERY_S = 5.0


class Stop:
    """Remembers that somebody asked for the end, by SIGINT, SIGTERM or SIGHUP; the watched go on."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True


def watch_others(loop: Loop, is_there: Callable[[], bool], stop: Stop) -> None:
    """Ticks until they have gone or somebody asks for the end."""
    while not stop.asked and is_there():
        end = time.monotonic() + loop.until_next_s
        while not stop.asked and time.monotonic() < end:
            time.sleep(min(LAST_BREATH_S, max(end - time.monotonic(), 0.0)))
        if not stop.asked:
            loop.tick()
    if is_there():
        loop.tick(is_last=True)


def alive(pid: int, proc: Path = Path("/proc")) -> bool:
    """Whether a process is there and has not ended."""
    try:
        text = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return text[text.rfind(")") + 2 :][:1] not in {"Z", "X"}


def environment_of(pid: int, proc: Path = Path("/proc")) -> dict[str, str]:
    """Environment that a process was started with.

    Raises:
        InputError: There is no such process, or it is somebody else's.
    """
    try:
        raw = (proc / str(pid) / "environ").read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"there is no process {pid}") from error
    except OSError as error:
        raise InputError(f"process {pid} is not yours to look at ({error.strerror})") from error
    return pairs_of(raw)


def processes_of_job(job_id: str, proc: Path = Path("/proc")) -> frozenset[int]:
    """Processes of a Slurm job on this node that are ours to look at, without this watcher's own step.

    Found by the environment that Slurm gives each of its processes, which needs no administrator. Several
    of Slurm's nodes may share one machine, so the node's name must be ours too.
    """
    own = environment_or_none("self", proc)
    own_step, own_node = step_of(own), own.get("SLURMD_NODENAME")
    found = set()
    for path in proc.iterdir():
        if not path.name.isdigit():
            continue
        environ = environment_or_none(path.name, proc)
        if environ.get("SLURM_JOB_ID") != job_id or step_of(environ) == own_step:
            continue
        if own_node is None or environ.get("SLURMD_NODENAME", own_node) == own_node:
            found.add(int(path.name))
    return frozenset(found)


def environment_or_none(pid: str, proc: Path) -> dict[str, str]:
    """Environment of a process; empty where it is not for us."""
    try:
        raw = (proc / pid / "environ").read_bytes()
    except OSError:
        return {}
    return pairs_of(raw)


def pairs_of(raw: bytes) -> dict[str, str]:
    """Names and values of the kernel's form of an environment."""
    pairs = (part.partition("=") for part in raw.decode("utf-8", "replace").split("\0") if part)
    return {name: value for name, _, value in pairs}


def step_of(environ: dict[str, str]) -> str:
    """Job, step and node of an environment, for telling steps apart."""
    return "/".join(environ.get(name, "") for name in ("SLURM_JOB_ID", "SLURM_STEP_ID"))


class JobProcesses:
    """The processes of a Slurm job on this node, which come and go with its steps.

    Args:
        job_id: The job.
        follow: Called with processes that are new.
        clock: Seconds on a steady clock.
    """

    def __init__(
        self,
        job_id: str,
        follow: Callable[[frozenset[int]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job_id, self._follow, self._clock = job_id, follow, clock
        self._known: frozenset[int] = frozenset()
        self._look_at = 0.0

    def are_there(self) -> bool:
        """Whether one of them lives; looks for new ones every five seconds."""
        if self._clock() >= self._look_at:
            found = processes_of_job(self._job_id)
            self._follow(found - self._known)
            self._known |= found
            self._look_at = self._clock() + LOOK_EVERY_S
        return any(alive(pid) for pid in self._known)
