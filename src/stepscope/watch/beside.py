"""Watching a run that is recorded from a process beside it.

The watcher is no child of the process that trains: a shell starts it and is gone before the script
begins, so that a script which counts, waits for or kills its children meets none of ours. It is in a
session of its own, which a Ctrl-C does not reach, has no file of the script's open, and ends when it is
told to or when what it watches has gone. What adds up is read by the process that trains itself, when it begins and
when it ends, because the watcher takes a moment to start, and some runs are over by then.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.watch.account import account_of, read, written
from stepscope.watch.attach import alive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stepscope.watch.loop import Loop
    from stepscope.watch.recalled import Memory

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
        self._watched, self._last = 0, Path()
        self._owner = os.getpid()

    def begin(self, folder: Path, pid: int, task: int = 0, tasks: int = 1) -> None:
        """Start the watcher; it looks at the process and those below it."""
        if not hasattr(signal, "sigtimedwait") or not Path(SHELL).exists():
            return
        self._watched, self._last = pid, last_place(folder, task)
        order = {
            "folder": str(folder),
            "since": written(account_of(pid)),
            "pid": pid,
            "task": task,
            "tasks": tasks,
            "command": self._command,
            "interval_s": self._interval_s,
        }
        words = [SHELL, "-c", IN_BACKGROUND, "sh", sys.executable, "-m", MODULE, json.dumps(order)]
        with suppress(OSError, ValueError), told_later():
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
            self._last.write_text(written(account_of(self._watched)), encoding="utf-8")
        with suppress(OSError):
            os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + PATIENCE_S
        while alive(pid) and time.monotonic() < end:
            time.sleep(0.005)
        with suppress(OSError):
            self._last.unlink(missing_ok=True)


@contextmanager
def told_later() -> Iterator[None]:
    """Processes that are started inside keep SIGTERM until they ask for it.

    A run may be over before the watcher's interpreter has started, and the watcher must hear of it all the same.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def last_place(folder: Path, task: int) -> Path:
    """Where the last account is left for the watcher, until it has read it."""
    return folder / f".last-account.{task}.json"


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
    from stepscope.watch.recalled import Memory  # noqa: PLC0415
    from stepscope.watch.session import WatchOptions, build, tree_of  # noqa: PLC0415

    order = json.loads(text)
    folder, pid = Path(order["folder"]), int(order["pid"])
    since = read(order["since"])
    memory = Memory(since)
    options = WatchOptions(
        out=folder,
        interval_s=order["interval_s"],
        live=False,
        task=(order["task"], order["tasks"]),
        tells=False,
        memory=memory,
        attached=True,
    )
    loop = build(tree_of(pid), pid, tuple(order["command"]), options, os.environ, folder)
    memory.recall(since)
    loop.open()
    memory.wake()
    watch_until_told(loop, pid, memory, last_place(folder, order["task"]))
    loop.close()
    with suppress(OSError):
        write(folder, summary_of(folder))
    return 0


def watch_until_told(loop: Loop, pid: int, memory: Memory, last: Path) -> None:
    """Ticks until SIGTERM, which must be blocked, or the process's end; then takes a last sample.

    Args:
        loop: What ticks.
        pid: The watched process.
        memory: Recalls the end, where the process has left an account of it.
        last: Where that is.
    """
    told = signal.sigtimedwait({signal.SIGTERM}, 0)
    while told is None and alive(pid):
        loop.tick()
        told = signal.sigtimedwait({signal.SIGTERM}, loop.until_next_s)
    with suppress(OSError, ValueError):
        memory.recall(read(last.read_text(encoding="utf-8")), is_end=True)
    loop.tick(is_last=True)


if __name__ == "__main__":
    # Also where we were not started by a Beside, which has seen to it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    raise SystemExit(main(sys.argv[1]))
