"""Which files belong to which rank: ranks, and windows of a rank, told apart.

A file's rank comes from its header, else from a collective's arguments, else from its name. Two files
of one rank that do not overlap in time are two windows of it; a file that is there twice counts once.
What this takes is small (an :class:`Identity`), so that the files need not be in memory together.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.schema.notice import Notice
from stepscope.trace.call_names import of_kind

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from stepscope.trace.file import TraceFile
    from stepscope.trace.model import Window

RANK_IN_NAME = (
    re.compile(r"rank[-_.]?(\d+)", re.IGNORECASE),
    re.compile(r"(?:^|[-_.])TP-(\d+)"),
    re.compile(r"(?:^|[-_.])r(\d+)[-_.]"),
)

MOST_NAMED = 8
"""So many missing ranks are named."""


class Identity(Struct, frozen=True):
    """What tells a file from others of its job.

    Attributes:
        window: Its path and extent.
        rank: The rank that it states; None when nothing tells it.
        rank_source: ``distributed-info``, ``collective``, ``file-name`` or ``none``.
        process: Host and process id of its writer, as one text.
        world_size: Number of ranks that the header states.
        trace_id: The recorder's id of the window; None when not given.
        complete: Its events with a duration.
    """

    window: Window
    rank: int | None
    rank_source: str
    process: str
    world_size: int | None
    trace_id: str | None
    complete: int

    @property
    def path(self) -> str:
        """The file."""
        return self.window.path


class RankFiles(Struct, frozen=True):
    """Files of one rank.

    Attributes:
        rank: Its number; None when nothing tells it.
        rank_source: ``distributed-info``, ``collective``, ``file-name`` or ``none``.
        files: Its windows in order of time.
    """

    rank: int | None
    rank_source: str
    files: tuple[Identity, ...]


def identity_of(file: TraceFile) -> Identity:
    """What tells a file that was read from others."""
    rank, source = rank_of(file)
    return Identity(
        window=file.window,
        rank=rank,
        rank_source=source,
        process=process_of(file),
        world_size=world_size(file),
        trace_id=file.header.trace_id,
        complete=file.complete,
    )


def group(files: Sequence[Identity]) -> tuple[list[RankFiles], list[Notice]]:
    """Ranks in order of their number, and what was odd about the set of files."""
    notices: list[Notice] = []
    kept = _without_doubles(files, notices)
    by_rank: dict[tuple[int | None, str], list[Identity]] = {}
    sources: dict[int | None, str] = {}
    for file in kept:
        sources.setdefault(file.rank, file.rank_source)
        owner = file.process if file.rank is None or (file.world_size or 0) <= 1 else ""
        by_rank.setdefault((file.rank, owner), []).append(file)
    groups = [_in_order(rank, sources[rank], members) for (rank, _), members in by_rank.items()]
    groups.sort(key=lambda g: (g.rank is None, g.rank or 0, g.files[0].path))
    return _distinct(groups, notices), notices


def rank_of(file: TraceFile) -> tuple[int | None, str]:
    """The rank of a file and what told it."""
    info = file.header.values.get("distributedInfo")
    if isinstance(info, dict) and type(info.get("rank")) is int and info["rank"] >= 0:
        return info["rank"], "distributed-info"
    if file.collective_rank is not None:
        return file.collective_rank, "collective"
    name = PurePath(file.path).name
    for pattern in RANK_IN_NAME:
        match = pattern.search(name)
        if match:
            return int(match.group(1)), "file-name"
    return None, "none"


def process_of(file: TraceFile) -> str:
    """What tells the process that wrote the file from others: host and process id."""
    host = file.header.values.get("host_name")
    table = file.tables.host
    found, times = np.unique(table["pid"].to_numpy()[~of_kind(table, "other")], return_counts=True)
    process = int(found[np.argmax(times)]) if len(found) else None
    return f"{host if isinstance(host, str) else ''}:{process!r}"


def world_size(file: TraceFile) -> int | None:
    """Number of ranks that the header states."""
    info = file.header.values.get("distributedInfo")
    size = info.get("world_size") if isinstance(info, dict) else None
    return size if type(size) is int and size > 0 else None


def missing(groups: Sequence[RankFiles]) -> list[Notice]:
    """Ranks that the headers promise and no file brings."""
    sizes = [file.world_size for group in groups for file in group.files if file.world_size]
    world = max(sizes, default=1)
    present = {group.rank for group in groups if group.rank is not None}
    count, first = absent(world, present)
    if world <= 1 or not count or len(groups) >= world:
        return []
    named = ", ".join(map(str, first)) + (", ..." if count > len(first) else "")
    text = (
        f"{count} of {world} ranks are missing ({named}): whether a collective transfers or waits for "
        "a late rank cannot be told, and no straggler is named."
    )
    return [Notice(code="missing-ranks", count=count, text=text)]


def absent(world: int, present: Collection[int]) -> tuple[int, list[int]]:
    """How many ranks of so many are not there, and the first few of them.

    They are counted, never listed: the number of ranks is whatever a file says.
    """
    count = world - sum(0 <= rank < world for rank in set(present))
    first = islice((rank for rank in range(world) if rank not in present), MOST_NAMED)
    return count, list(first)


def _without_doubles(files: Sequence[Identity], notices: list[Notice]) -> list[Identity]:
    seen: dict[tuple[object, ...], str] = {}
    kept: list[Identity] = []
    doubles: list[str] = []
    for file in files:
        stated = file.rank if file.rank_source != "file-name" else None
        window = (file.window.start_ns, file.window.end_ns, file.complete)
        identity = (file.trace_id, stated, file.process, *window)
        if identity in seen:
            doubles.append(f"{file.path} repeats {seen[identity]}")
            continue
        seen[identity] = file.path
        kept.append(file)
    if doubles:
        notices.append(
            Notice(
                code="duplicate-file",
                count=len(doubles),
                text=f"{len(doubles)} file(s) hold a recording that another file holds too and were left out: {doubles[0]}.",
            )
        )
    return kept


def _in_order(rank: int | None, source: str, members: list[Identity]) -> RankFiles:
    ordered = sorted(members, key=lambda f: (f.window.start_ns, f.path))
    return RankFiles(rank, source, tuple(ordered))


def _distinct(groups: list[RankFiles], notices: list[Notice]) -> list[RankFiles]:
    """One group per rank number: processes that claim the same rank are told apart or put in order."""
    claimed = [g.rank for g in groups]
    if len(groups) > 1 and (None in claimed or len(set(claimed)) < len(claimed)):
        notices.append(
            Notice(
                code="rank-unknown",
                count=len(groups),
                text=f"The {len(groups)} processes do not state distinct ranks; they are numbered in the order of their file names, and nothing is concluded from comparing them.",
            )
        )
        groups = sorted(groups, key=lambda g: g.files[0].path)
        return [RankFiles(number, "none", g.files) for number, g in enumerate(groups)]
    return groups
