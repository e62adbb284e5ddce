"""Which files belong to which rank: ranks, and windows of a rank, told apart.

A file's rank comes from its header, else from a collective's arguments, else from its name. Two files
of one rank that do not overlap in time are two windows of it; a file that is there twice counts once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import polars as pl

from stepscope.schema.report import Notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.trace.file import TraceFile

RANK_IN_NAME = (
    re.compile(r"rank[-_.]?(\d+)", re.IGNORECASE),
    re.compile(r"(?:^|[-_.])TP-(\d+)"),
    re.compile(r"(?:^|[-_.])r(\d+)[-_.]"),
)


@dataclass(frozen=True, slots=True)
class RankFiles:
    """Files of one rank.

    Attributes:
        rank: Its number; None when nothing tells it.
        rank_source: ``distributed-info``, ``collective``, ``file-name`` or ``none``.
        files: Its windows in order of time.
    """

    rank: int | None
    rank_source: str
    files: tuple[TraceFile, ...]


def group(files: Sequence[TraceFile]) -> tuple[list[RankFiles], list[Notice]]:
    """Ranks in order of their number, and what was odd about the set of files."""
    notices: list[Notice] = []
    kept = _without_doubles(files, notices)
    by_rank: dict[tuple[int | None, str], list[TraceFile]] = {}
    sources: dict[int | None, str] = {}
    for file in kept:
        rank, source = rank_of(file)
        sources.setdefault(rank, source)
        owner = process_of(file) if rank is None or not _is_distributed(file) else ""
        by_rank.setdefault((rank, owner), []).append(file)
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
    operators = file.tables.host.filter(pl.col("kind") != "other")
    process = operators.select(pl.col("pid").mode().min()).item() if len(operators) else None
    return f"{host if isinstance(host, str) else ''}:{process!r}"


def world_size(file: TraceFile) -> int | None:
    """Number of ranks that the header states."""
    info = file.header.values.get("distributedInfo")
    size = info.get("world_size") if isinstance(info, dict) else None
    return size if type(size) is int and size > 0 else None


def _is_distributed(file: TraceFile) -> bool:
    return (world_size(file) or 0) > 1


def _without_doubles(files: Sequence[TraceFile], notices: list[Notice]) -> list[TraceFile]:
    seen: dict[tuple[object, ...], str] = {}
    kept: list[TraceFile] = []
    doubles: list[str] = []
    for file in files:
        rank, source = rank_of(file)
        stated = rank if source != "file-name" else None
        window = (file.window.start_ns, file.window.end_ns, file.complete)
        identity = (file.header.trace_id, stated, process_of(file), *window)
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


def _in_order(rank: int | None, source: str, members: list[TraceFile]) -> RankFiles:
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
