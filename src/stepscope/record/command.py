"""``stepscope profile -- COMMAND``: runs a launcher, and has the processes below it that train recorded."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import OptionError
from stepscope.record.analysis_child import analyze_run
from stepscope.record.injection import recorded_below
from stepscope.record.journal import ManifestFile
from stepscope.record.others import wait_for_others
from stepscope.record.output import create_output, join_output
from stepscope.record.place import place_of
from stepscope.record.summary import summary_of
from stepscope.record.voice import Voice
from stepscope.schema.light import light_files
from stepscope.schema.run_folder import is_run_folder, load_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from stepscope.record.plan import Plan
    from stepscope.schema.companion import Companion
    from stepscope.schema.run_folder import RunFolder

FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1")
"""Signals that are sent on to the command; Ctrl-C reaches it by itself."""

ASKS_FOR_WINDOW = "SIGUSR2"
"""The signal that is sent to the processes which are recorded, because it would end a launcher."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOptions:
    """What to record of which command.

    Attributes:
        command: The command and its arguments.
        plan: How many steps.
        out: Folder to write to; ``None`` for a fresh one under ``stepscope-runs``.
        analyze: Whether to analyse the run afterwards.
        companion: Goes along with the run in a process of its own; ``None`` for nobody.
        report_options: More arguments for ``stepscope analyze``.
    """

    command: tuple[str, ...]
    plan: Plan
    out: str | None = None
    analyze: bool = True
    companion: Companion | None = None
    report_options: tuple[str, ...] = ()


def launch_command(options: CommandOptions) -> int:
    """Run the command to its end and analyse what its processes left; the command's own exit status.

    Where each task of a job starts a launcher of its own (``srun stepscope profile -- torchrun ...``), all
    write to one folder, and the first of them reports.

    Raises:
        OptionError: There is no such command, or the output folder is taken.
    """
    program = shutil.which(options.command[0])
    if program is None:
        raise OptionError(f"there is no command {options.command[0]}")
    voice = Voice()
    name = Path(options.command[0]).name
    place = place_of(os.environ)
    shares = place.is_one_of_many
    try:
        folder = (
            join_output(name, options.out, place) if shares else create_output(name, options.out)
        )
        manifest = ManifestFile(folder, options.command) if not shares or place.rank == 0 else None
    except OSError as error:
        voice.warn(f"nothing can be recorded, the command runs all the same: {error}")
        return _status(_run(options.command, os.environ))
    environment = recorded_below(os.environ, folder, json.dumps(asdict(options.plan)))
    # Nobody listens for the signal that asks for a window where there are none.
    signalled = None if options.plan.light else folder
    code = _run(options.command, environment, signalled, partial(_accompany, options, folder))
    if manifest is None:
        return _status(code)
    manifest.finish(code)
    if shares:
        wait_for_others(folder, _world_size(load_run(folder)))
    run = load_run(folder)
    for line in _told(run):
        voice.say(line)
    if options.analyze and options.plan.light and light_files(folder):
        analyze_run(folder, light=True)
    elif options.analyze and any(rank.trace for rank in run.ranks):
        analyze_run(folder, options.report_options)
    return _status(code)


def _run(
    command: tuple[str, ...],
    environment: Mapping[str, str],
    folder: Path | None = None,
    accompany: Callable[[int], None] | None = None,
) -> int:
    """The command's return code, negative for a signal; signals to this process are sent on to it."""
    with subprocess.Popen(command, env=environment) as child:  # noqa: S603  to run it is the purpose
        before = {}

        def send_on(number: int, _frame: FrameType | None) -> None:
            child.send_signal(number)

        def wait_for_child(_number: int, _frame: FrameType | None) -> None:
            """The terminal sends Ctrl-C to the command as well; its end is awaited."""

        def ask_for_window(number: int, _frame: FrameType | None) -> None:
            if folder is not None:
                _send_to_recorded(folder, number)

        asking = getattr(signal, ASKS_FOR_WINDOW, None)
        if asking is not None:
            before[asking] = signal.signal(asking, ask_for_window)
        for name in FORWARDED:
            number = getattr(signal, name, None)
            if number is not None:
                before[number] = signal.signal(number, send_on)
        before[signal.SIGINT] = signal.signal(signal.SIGINT, wait_for_child)
        try:
            if accompany is not None:
                accompany(child.pid)
            return child.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _accompany(options: CommandOptions, folder: Path, pid: int) -> None:
    """Let the companion go along until the command has ended, which is left to be waited for."""
    companion, place = options.companion, place_of(os.environ)
    if companion is None or not hasattr(os, "waitid"):
        return
    companion.begin(folder, pid, place.rank or 0, place.world_size)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    # The command is a zombie now, whose final account the kernel still holds.
    companion.end()


def _send_to_recorded(folder: Path, number: int) -> None:
    """Sends a signal to the processes of this machine that are recorded."""
    # The manifest is written by the first task of a job, which may not have begun.
    if not is_run_folder(folder):
        return
    here = socket.gethostname()
    for note in load_run(folder).processes:
        if note.rank is not None and note.host == here:
            with contextlib.suppress(ProcessLookupError):
                os.kill(note.pid, number)


def _status(code: int) -> int:
    """The exit status that a shell gives to a return code."""
    return 128 - code if code < 0 else code


def _world_size(run: RunFolder) -> int:
    """Ranks of the job, as the first of its processes that told it knew."""
    return max((rank.recording.world_size for rank in run.ranks if rank.recording), default=0)


def _told(run: RunFolder) -> list[str]:
    """Which processes were recorded, which were not and why, and what the first of them left."""
    recorded = [note for note in run.processes if note.rank is not None]
    lines = [f"recorded {len(recorded)} {'process' if len(recorded) == 1 else 'processes'}"]
    lines[0] += "".join(f", rank {note.rank} (pid {note.pid})" for note in recorded[:8])
    reasons: dict[str, list[int]] = {}
    for note in run.processes:
        if note.rank is None:
            reasons.setdefault(note.why, []).append(note.pid)
    for why, pids in reasons.items():
        count = f"{len(pids)} {'process' if len(pids) == 1 else 'processes'}"
        lines.append(f"not recorded: {count} (pid {', '.join(map(str, pids[:8]))}): {why}")
    if not run.processes:
        lines.append(
            "no Python process below the command imported torch, or it runs in a Python without stepscope"
        )
    first = next((rank for rank in run.ranks if rank.recording is not None), None)
    if first is not None and first.recording is not None:
        lines += summary_of(first.recording, run.path)
    return lines
