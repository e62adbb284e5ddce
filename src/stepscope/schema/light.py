"""``rank<N>/light.csv``: the steps of a whole run in a few bytes each, as the recorder's light mode appends them.

The first line is a :class:`LightHead` as JSON, each further line a :class:`LightRow` of whole microseconds.
The first :data:`EXACT_STEPS` steps have a row each. After that the steps of about half a second share one, in
blocks that begin at multiples of their length, a power of two, so that the blocks of different ranks fit into
each other; the slowest step of each block is kept as it was. Only whole lines are appended, so that
what a killed process leaves is readable up to about its last second. Nothing beyond the standard library is
needed to write, because the writer runs inside the user's training process.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from stepscope.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

LIGHT_VERSION = 1
LIGHT_NAME = "light.csv"
EXACT_STEPS = 1024
"""So many steps at the beginning have a row each."""

PARTS = ("input", "forward", "backward", "sync", "optimizer", "apart")
"""Parts of a step in the order of their columns; what is in none of them is the host's own (``host``).

``input`` is waiting for the DataLoader, ``forward`` the forward pass of a data-parallel model, ``backward`` the
backward pass up to the last gradient, ``sync`` waiting in collectives and at the end of the backward pass,
``optimizer`` the optimizers' steps, ``apart`` evaluation and checkpoints inside the step. All on the host's
clock: on an accelerator they say how long the host was in them.
"""

ALL_PARTS = (*PARTS, "host")

_ROW = re.compile(r"\d+(?:,\d+){9}(?:,\d+){0,10}")
_SINGLE, _BLOCK = 10, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LightHead:
    """Who wrote the rows.

    Attributes:
        version: Version of this file's form.
        rank, world_size: As the launcher gave them; 0 and 1 without one.
        host: Name of the machine.
        pid: The process.
        time_ns: Nanoseconds since 1970 at the zero of ``at_ms``.
    """

    version: int = LIGHT_VERSION
    rank: int
    world_size: int
    host: str
    pid: int
    time_ns: int

    def line(self) -> str:
        """The head as the file's first line."""
        return json.dumps(asdict(self)) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class LightRow:
    """Steps that follow each other.

    Attributes:
        first: Number of the first of them, counted from 0.
        count: How many there are.
        at_ms: When the first began, in milliseconds after the head's moment.
        total_us: Their lengths, summed.
        parts_us: Their :data:`PARTS`, summed.
        low_us, middle_us: Length of the shortest, and the median.
        worst: Number of the longest.
        worst_us: Its length.
        worst_parts_us: Its parts.
    """

    first: int
    count: int
    at_ms: int
    total_us: int
    parts_us: tuple[int, ...]
    low_us: int
    middle_us: int
    worst: int
    worst_us: int
    worst_parts_us: tuple[int, ...]

    def line(self) -> str:
        """The row as a line of the file; what a single step has twice is left out."""
        fields = [self.first, self.count, self.at_ms, self.total_us, *self.parts_us]
        if self.count > 1:
            fields += [self.low_us, self.middle_us, self.worst - self.first, self.worst_us]
            fields += self.worst_parts_us
        return ",".join(map(str, fields)) + "\n"


@dataclass(frozen=True, slots=True)
class LightSteps:
    """What one process left.

    Attributes:
        head: Who it was.
        rows: Its steps in order.
    """

    head: LightHead
    rows: tuple[LightRow, ...]


def light_files(folder: Path) -> list[Path]:
    """The files of all ranks in a run folder, by rank."""
    found = list(folder.glob(f"rank*/{LIGHT_NAME}")) if folder.is_dir() else []
    return sorted(found, key=lambda path: (len(path.parent.name), path.parent.name))


def load_light(path: Path) -> LightSteps | None:
    """The rows of one file up to a line that a kill cut short; ``None`` where not even the head is whole.

    Raises:
        InputError: The file is of a newer version than this program, or cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=str(path)) from error
    head = _head(lines[0]) if lines else None
    if head is None:
        return None
    if head.version > LIGHT_VERSION:
        raise InputError("was written by a newer stepscope", path=str(path), way_out="update it")
    rows = []
    for line in lines[1:]:
        row = _row(line)
        if row is None:
            break
        rows.append(row)
    return LightSteps(head, tuple(rows))


def _head(line: str) -> LightHead | None:
    try:
        made = json.loads(line)
        return LightHead(
            version=int(made["version"]),
            rank=int(made["rank"]),
            world_size=int(made["world_size"]),
            host=str(made["host"]),
            pid=int(made["pid"]),
            time_ns=int(made["time_ns"]),
        )
    except (ValueError, TypeError, KeyError):
        return None


def _row(line: str) -> LightRow | None:
    if not _ROW.fullmatch(line):
        return None
    fields = [int(field) for field in line.split(",")]
    first, count, at_ms, total, *parts = fields[:_SINGLE]
    if len(fields) == _SINGLE and count == 1:
        own = tuple(parts)
        return LightRow(
            first=first, count=1, at_ms=at_ms, total_us=total, parts_us=own, low_us=total,
            middle_us=total, worst=first, worst_us=total, worst_parts_us=own,
        )  # fmt: skip
    if len(fields) != _BLOCK or count < 2:
        return None
    low, middle, worst, worst_us, *worst_parts = fields[_SINGLE:]
    return LightRow(
        first=first, count=count, at_ms=at_ms, total_us=total, parts_us=tuple(parts), low_us=low,
        middle_us=middle, worst=first + worst, worst_us=worst_us, worst_parts_us=tuple(worst_parts),
    )  # fmt: skip
