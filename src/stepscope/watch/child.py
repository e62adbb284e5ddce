"""Running the watched command so that it cannot tell: its own output, signals and exit status.

The command is a child with our files, our group and the signal mask that we were given. We block the
signals that people send, wait for them between two ticks, and hand on those that the command has not
got itself.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.watch.loop import Loop

HANDED_ON = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
)
FROM_TERMINAL_OR_KERNEL = 1
"""From this ``si_code`` on a signal comes from the kernel: a terminal sends it to the whole group."""


class Ending(Struct, frozen=True):
    """How the command ended: one of both is set.

    Attributes:
        status: Its exit status.
        signal: The signal that ended it.
    """

    status: int | None
    signal: int | None


class Child:
    """The watched command.

    Args:
        command: Program and arguments.
        environ: Its environment.

    Raises:
        OptionError: There is no such program, or it cannot be run.
    """

    def __init__(self, command: tuple[str, ...], environ: Mapping[str, str]) -> None:
        self._waited = {*HANDED_ON, signal.SIGCHLD}
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, self._waited)
        # Python ignores these two at its start; a program started by a shell does not.
        defaults = [signal.SIGPIPE, signal.SIGXFSZ]
        try:
            self.pid = os.posix_spawnp(
                command[0], command, environ, setsigmask=self._mask, setsigdef=defaults
            )
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            raise OptionError(f"cannot run {command[0]}: {error.strerror}") from error

    def watch(self, loop: Loop) -> Ending:
        """Ticks until the command has ended, and takes a last sample of it before it is gone."""
        while not self._has_ended():
            info = signal.sigtimedwait(self._waited, loop.until_next_s)
            if info is None:
                loop.tick()
            elif info.si_signo != signal.SIGCHLD and not self._got_it(info):
                os.kill(self.pid, info.si_signo)
        # The command is a zombie now, whose final account the kernel still holds.
        loop.tick(is_last=True)
        _, status = os.waitpid(self.pid, 0)
        # What came while the command ended, as a Ctrl-C that ended it, has nobody left to reach.
        while signal.sigtimedwait(self._waited, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask - set(HANDED_ON))
        if os.WIFSIGNALED(status):
            return Ending(None, os.WTERMSIG(status))
        return Ending(os.WEXITSTATUS(status), None)

    def _has_ended(self) -> bool:
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.pid, flags) is not None

    def _got_it(self, info: signal.struct_siginfo) -> bool:
        """Whether the command has got the signal itself.

        It has when a terminal sent it, which goes to the whole group; when Slurm's step manager did, which
        sends to every process of a task; and when the command sent it to its own group.
        """
        if info.si_code >= FROM_TERMINAL_OR_KERNEL:
            return True
        return name_of(info.si_pid) == "slurmstepd" or self._is_inside(info.si_pid)

    def _is_inside(self, pid: int) -> bool:
        """Whether a process is the command or a descendant of it."""
        while pid > 1:
            if pid == self.pid:
                return True
            pid = parent_of(pid)
        return False


def name_of(pid: int) -> str:
    """Name of a process; ``""`` when it has gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def parent_of(pid: int) -> int:
    """Parent of a process; 0 when it has gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(text[text.rfind(")") + 2 :].split()[1])


def end_like(ending: Ending) -> int:
    """The exit status to end with; for a signal it ends this process by the same one.

    Nothing of ours follows it; the dump of memory that some signals make is the command's alone.
    """
    if ending.signal is None:
        return 0 if ending.status is None else ending.status
    import resource  # noqa: PLC0415  not on Windows, where nothing ends by a signal

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if ending.signal != signal.SIGKILL:
        signal.signal(ending.signal, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {ending.signal})
    os.kill(os.getpid(), ending.signal)
    return 128 + ending.signal
