"""What became of the processes below a launcher: lines of a run folder's ``processes.jsonl``."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PROCESSES_NAME = "processes.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessNote:
    """What became of a process below a launcher; a later line of the same process overrules one before.

    Attributes:
        pid, parent: The process and the one that started it.
        rank: Its part of the run folder; ``None`` when it was not recorded.
        command: Its command line; foreign text.
        why: Why it was not recorded, as words; ``""`` when it was.
        host: The machine that it ran on; ``""`` where not noted.
    """

    pid: int
    parent: int
    rank: int | None
    command: tuple[str, ...]
    why: str
    host: str = ""


def note_process(folder: Path, note: ProcessNote) -> None:
    """Add a line about a process.

    Raises:
        OSError: The folder cannot be written to.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    descriptor = os.open(folder / PROCESSES_NAME, flags, 0o666)
    try:
        os.write(descriptor, (json.dumps(asdict(note)) + "\n").encode())
    finally:
        os.close(descriptor)


def load_processes(folder: Path) -> tuple[ProcessNote, ...]:
    """The notes of a run folder, one a process; none where no launcher was followed."""
    import msgspec  # noqa: PLC0415

    path = folder / PROCESSES_NAME
    if not path.is_file():
        return ()
    notes: dict[tuple[str, int], ProcessNote] = {}
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            note = msgspec.json.decode(line, type=ProcessNote)
        except msgspec.MsgspecError:
            continue
        notes[note.host, note.pid] = note
    return tuple(notes.values())
