"""Watching a run that is recorded from a process beside it.

The watcher is no child of the process that trains: a shell starts it and is gone before the script
begins, so that a script which counts, waits for or kills its children meets none of ours. It is in a
session of its own, which a Ctrl-C does not reach, has no file of the script's open, and ends when it is
told to or when what it watches has gone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.watch.attach import alive

if TYPE_CHECKING:
    from stepscope.watch.loop import Loop

MODULE = "stepscope.watch.beside"
SHELL = "/bin/sh"
IN_BACKGROUND = '"$@" </dev/null >/dev/null 2>&1 & echo $!'
INTERVAL_S = 0.5
"""Time between two samples."""
PATIENCE_S = 5.0
"""A watcher that has not ended by then is left to itself."""


class Beside:
    """Starts and ends a watcher; a system without what it needs is not watched.

    Args:
        command: The command line of the run, for the record.
        interval_s: Time between two samples.
    """

    def __init__(self, command: tuple[str, ...], interval_s: float) -> None:
        self._command, self._interval_s = command, interval_s
        self._pid: int | None = None
        self._owner = os.getpid()

    def begin(self, folder: Path, pid: int, task: int = 0, tasks: int = 1) -> None:
        """Start the watcher; it looks at the process and those below it."""
        if not hasattr(signal, "sigtimedwait") or not Path(SHELL).exists():
            return
        order = {
            "folder": str(folder),
            "pid": pid,
            "task": task,
            "tasks": tasks,
            "command": self._command,
            "interval_s": self._interval_s,
        }
        words = [SHELL, "-c", IN_BACKGROUND, "sh", sys.executable, "-m", MODULE, json.dumps(order)]
        with suppress(OSError, ValueError):
            # In the run folder no module of the user's can take the place of one of ours.
            shell = subprocess.run(  # noqa: S603
                words, cwd=folder, capture_output=True, start_new_session=True, check=False
            )
            self._pid = int(shell.stdout)

    def end(self) -> None:
        """Have the watcher take a last sample, and wait for its end."""
        pid, self._pid = self._pid, None
        # A script may fork, and its child leave by the same way.
        if pid is None or os.getpid() != self._owner or not is_watcher(pid):
            return
        with suppress(OSError):
            os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + PATIENCE_S
        while alive(pid) and time.monotonic() < end:
            time.sleep(0.005)


def is_watcher(pid: int) -> bool:
    """Whether the process of that number is still a watcher."""
    try:
        return MODULE.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def main(text: str) -> int:
    """The watcher itself: samples until it is told to end or the watched process has gone."""
    # Only the watcher needs these; the process that trains imports this module too.
    from stepscope.watch.closing import summary_of, write  # noqa: PLC0415
    from stepscope.watch.session import WatchOptions, build, tree_of  # noqa: PLC0415

    order = json.loads(text)
    folder, pid = Path(order["folder"]), int(order["pid"])
    options = WatchOptions(
        out=folder,
        interval_s=order["interval_s"],
        live=False,
        task=(order["task"], order["tasks"]),
        tells=False,
    )
    loop = build(tree_of(pid), pid, tuple(order["command"]), options, os.environ, folder)
    loop.open()
    watch_until_told(loop, pid)
    loop.close()
    with suppress(OSError):
        write(folder, summary_of(folder))
    return 0


def watch_until_told(loop: Loop, pid: int) -> None:
    """Ticks until SIGTERM, which must be blocked, or the process's end; then takes a last sample."""
    told = None
    while told is None and alive(pid):
        told = signal.sigtimedwait({signal.SIGTERM}, loop.until_next_s)
        if told is None:
            loop.tick()
    loop.tick(is_last=True)


if __name__ == "__main__":
    # Whoever started us may tell us to end before we have begun.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    raise SystemExit(main(sys.argv[1]))
