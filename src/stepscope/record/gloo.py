"""Collectives on the CPU that are done for training, but that gloo's threads have not yet closed.

A thread of gloo first hands over a collective's result and only then notes its end for the profiler.
PyTorch frees its notes when the profiler stops, without asking those threads; an end that is noted later is
written into memory that may be somebody else's by then, and training dies of it (seen with PyTorch 2.13 on a
busy machine: the training thread goes on at once, while the thread of gloo waits for a core).
"""

from __future__ import annotations

import platform
import sys
import threading
from pathlib import Path
from time import monotonic, sleep

TASKS = Path("/proc/self/task")
PATIENCE_S = 2.0
BETWEEN_LOOKS_S = 0.0005
ENOUGH_LOOKS = 2
"""A thread that waits for a lock looks idle too, but not for long."""

_FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine())
"""The number of the system call in which a thread waits for another one of its process."""
_WAITS_FOR_A_CONDITION = 9
"""The operation of that call by which C++ waits for a condition."""


def wait_for_gloo(tasks: Path = TASKS, patience_s: float = PATIENCE_S) -> bool:
    """Let the threads of gloo end what they are doing; whether all have nothing to do.

    Returns at once in a process without gloo.

    Args:
        tasks: Where the system lists the threads of this process.
        patience_s: The longest wait, in seconds.
    """
    if "torch.distributed" not in sys.modules:
        return True
    deadline = monotonic() + patience_s
    idle = 0
    while (threads := _threads_of_gloo(tasks)) and idle < ENOUGH_LOOKS:
        idle = idle + 1 if all(map(_is_idle, threads)) else 0
        if not idle and monotonic() > deadline:
            return False
        sleep(BETWEEN_LOOKS_S)
    return True


def _threads_of_gloo(tasks: Path) -> list[Path]:
    """The threads that run collectives; where PyTorch names none, all that are not Python's."""
    try:
        found = list(tasks.iterdir())
    except OSError:
        return []
    named = [task for task in found if _is_named(task)]
    distributed = sys.modules["torch.distributed"]
    if named or not distributed.is_available() or not distributed.is_initialized():
        return named
    own = {str(thread.native_id) for thread in threading.enumerate()}
    return [task for task in found if task.name not in own]


def _is_named(task: Path) -> bool:
    return _read(task / "comm").startswith("pt_gloo_run")


def _is_idle(task: Path) -> bool:
    """Whether the thread waits for work: asleep, and without a time limit, as no wait within a collective is."""
    call = _read(task / "syscall").split()
    if call and call[0] == "running":
        return False
    state = _read(task / "stat").rpartition(")")[2].split()
    if not state:
        return True  # It has ended, or the system does not tell.
    if not _is_named(task) or len(call) < 5 or _FUTEX is None:
        return state[0] != "R"
    number, operation, limit = int(call[0]), int(call[2], 16) & 0x7F, int(call[4], 16)
    return number == _FUTEX and operation == _WAITS_FOR_A_CONDITION and limit == 0


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
