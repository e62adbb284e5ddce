"""Records a process that somebody else started: one of those below ``stepscope profile -- COMMAND``.

Nothing of this is even imported in a process that never asks for torch. In one that does, recording begins when it makes
its first optimizer or reads its first loader, so that launchers are left alone; loaders' workers are
left alone because they are daemons of multiprocessing.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import socket
import sys
from multiprocessing import process
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.record.guard import Guard
from stepscope.record.hooks.importing import ImportHook
from stepscope.record.injection import PLAN_VARIABLE, RUN_VARIABLE
from stepscope.record.job import Job, JobOptions
from stepscope.record.plan import Plan
from stepscope.record.voice import Voice
from stepscope.schema.process_note import ProcessNote, note_process

if TYPE_CHECKING:
    from collections.abc import Callable

UNTRAINED = "it imported torch, but made no optimizer, read no DataLoader and called no module"
OF_MULTIPROCESSING = (
    "a process of multiprocessing that does not train, for instance a loader's worker"
)


def begin(begin_ns: int) -> None:
    """Wait for torch in this process; called when it asks for torch for the first time.

    Args:
        begin_ns: When the process began, on the clock of ``perf_counter_ns``.
    """
    folder = os.environ.get(RUN_VARIABLE)
    if not folder or Job.current is not None:
        return
    guard = Guard(Voice())
    recording = _Recording(Path(folder), guard, begin_ns)
    guard.call(recording.imports.install)


class _Recording:
    """What may become the recording of this process.

    Args:
        folder: The run folder.
        guard: What keeps failures away from the process.
        begin_ns: When the process began, for the account of its time.

    Attributes:
        imports: Waits for torch.
    """

    def __init__(self, folder: Path, guard: Guard, begin_ns: int) -> None:
        self._folder, self._guard, self._begin_ns = folder, guard, begin_ns
        self._undo: list[Callable[[], None]] = []
        self._job: Job | None = None
        self.imports = ImportHook("torch", guard.wrap(self.torch_is_here))

    def torch_is_here(self) -> None:
        """Torch has been imported: wait for a sign of training, unless this is a loader's worker."""
        if process.current_process().daemon:
            self._note("", OF_MULTIPROCESSING)
            return
        if Job.current is not None:
            return
        self._note(
            "", OF_MULTIPROCESSING if "--multiprocessing-fork" in sys.orig_argv else UNTRAINED
        )
        from torch.nn import Module
        from torch.optim import Optimizer
        from torch.utils.data import dataloader

        self._wait_for(Optimizer, "__init__")
        self._wait_for(dataloader._BaseDataLoaderIter, "__init__")
        self._wait_for(Module, "__call__")

    def _wait_for(self, kind: Any, name: str) -> None:
        """Begin when a method is called for the first time, of whichever instance."""
        from torch.compiler import is_compiling

        original = getattr(kind, name)

        @functools.wraps(original)
        def first(instance: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_compiling():
                self._guard.call(self._start)
            # The recorder that has begun may have put its own in place of the original.
            now = original if getattr(kind, name) is first else getattr(kind, name)
            return now(instance, *args, **kwargs)

        def undo() -> None:
            if getattr(kind, name) is first:
                setattr(kind, name, original)

        setattr(kind, name, first)
        self._undo.append(undo)

    def _start(self) -> None:
        while self._undo:
            self._undo.pop()()
        if self._job is not None or process.current_process().daemon:
            return
        plan = Plan(**json.loads(os.environ.get(PLAN_VARIABLE, "{}")))
        command = tuple(sys.orig_argv[1:]) or ("python",)
        job = self._job = Job(
            JobOptions(
                name=self._folder.name,
                command=command,
                plan=plan,
                out=str(self._folder),
                analyze=False,
                joins=True,
                begin_ns=self._begin_ns,
                import_ns=self.imports.took_ns,
            )
        )
        job.begin()
        if job.rank is not None:
            self._note(str(job.rank), "")
            atexit.register(job.end, None)
        else:
            self._note("", "its part of the run folder could not be made")

    def _note(self, rank: str, why: str) -> None:
        note = ProcessNote(
            pid=os.getpid(),
            parent=os.getppid(),
            rank=int(rank) if rank else None,
            command=tuple(sys.orig_argv),
            why=why,
            host=socket.gethostname(),
        )
        note_process(self._folder, note)
