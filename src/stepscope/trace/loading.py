"""From paths to ranks: finds the files, reads them, joins the windows of each rank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.errors import InputError
from stepscope.schema import tables
from stepscope.schema.notice import Notice
from stepscope.trace import cache, health, ranks, startup
from stepscope.trace import file as trace_file
from stepscope.trace.header import OPTIONS
from stepscope.trace.model import Trace, TraceMeta
from stepscope.trace.process_groups import process_groups
from stepscope.trace.source import is_address, list_address
from stepscope.trace.tables import empty
from stepscope.units import format_frac

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.trace.file import TraceFile
    from stepscope.trace.ranks import RankFiles

SUFFIXES = (".json", ".json.gz", ".trace", ".trace.gz", ".pt.trace", ".gz")
OWN_FILES = frozenset({"report.json", "run.json", "recording.json"})
STARTUP_SHARE = 0.1


def load(
    paths: Sequence[str | Path],
    *,
    with_python: bool = False,
    keep: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Trace]:
    """Reads traces and tells ranks and windows apart.

    Args:
        paths: Files and folders; folders are searched for traces.
        with_python: Whether to keep Python frames.
        keep: Whether to keep the tables as Parquet beside each file, and to use those that are there.
        progress: Called with files done, files in all and the next file's name.

    Returns:
        One trace per rank in order of rank, never empty.

    Raises:
        InputError: Nothing that was named can be read as a trace.
    """
    files, foreign = _read_all(find(paths), with_python=with_python, keep=keep, progress=progress)
    by_path = {file.path: file for file in files}
    groups, notices = ranks.group([ranks.identity_of(file) for file in files])
    notices += foreign + ranks.missing(groups)
    return [
        join([by_path[f.path] for f in group.files], group, notices if number == 0 else [])
        for number, group in enumerate(groups)
    ]


def read_file(
    path: str,
    *,
    with_python: bool = False,
    keep: bool = False,
    told: Callable[[int], None] | None = None,
) -> TraceFile:
    """One file, from the tables that were kept of it where that is wanted and they still count.

    Args:
        path: As ``trace.file.read`` takes it.
        with_python: Whether to keep Python frames.
        keep: Whether to use kept tables, and to keep them where there are none.
        told: As ``trace.file.read`` takes it.

    Raises:
        InputError: As ``trace.file.read``.
    """
    if not keep:
        return trace_file.read(path, with_python=with_python, told=told)
    file = cache.load(path, with_python=with_python)
    if file is None:
        file = trace_file.read(path, with_python=with_python, told=told)
        cache.store(file, with_python=with_python)
    return file


def find(paths: Sequence[str | Path]) -> list[str]:
    """The files that paths name; in folders those whose names can be a trace's, in order of name.

    Raises:
        InputError: A path does not exist, or a folder holds no such file.
    """
    found: list[str] = []
    for given in paths:
        inside = _inside(str(given))
        if inside is None:
            found.append(str(given))
            continue
        if not inside:
            raise InputError(
                "the folder holds no trace (no .json or .json.gz file)",
                path=str(given),
                way_out="give the folder into which the profiler exported",
            )
        found += inside
    if not found:
        raise InputError("no path was given", way_out="name a trace file or a folder of traces")
    return found


def _inside(given: str) -> list[str] | None:
    """The files of a folder that can be traces, in order of name; ``None`` for what is no folder."""
    if given == "-":
        return None
    if is_address(given):
        # A name like a file's is taken for one, which saves asking a server that may send it whole.
        listed = None if given.endswith(SUFFIXES) else list_address(given)
    else:
        path = Path(given)
        listed = [str(p) for p in path.rglob("*") if p.is_file()] if path.is_dir() else None
    if listed is None:
        return None
    names = [(one, one.rpartition("/")[2] if is_address(one) else Path(one).name) for one in listed]
    return sorted(one for one, name in names if name.endswith(SUFFIXES) and name not in OWN_FILES)


def _read_all(
    paths: list[str],
    *,
    with_python: bool,
    keep: bool,
    progress: Callable[[int, int, str], None] | None,
) -> tuple[list[TraceFile], list[Notice]]:
    """All readable files; with several, those that are no trace are passed over and said."""
    files: list[TraceFile] = []
    refused: list[InputError] = []
    for number, path in enumerate(paths):
        if progress:
            progress(number, len(paths), path)
        try:
            files.append(read_file(path, with_python=with_python, keep=keep))
        except InputError as error:
            refused.append(error)
    if progress:
        progress(len(paths), len(paths), "")
    if not files:
        raise refused[0]
    if not refused:
        return files, []
    text = f"{len(refused)} of {len(paths)} files were passed over, for instance {refused[0]}."
    return files, [Notice(code="foreign-file", count=len(refused), text=text)]


def join(files: Sequence[TraceFile], group: RankFiles, extra: Sequence[Notice] = ()) -> Trace:
    """The windows of one rank as one trace.

    Args:
        files: Its files, in the order of ``group.files``.
        group: What is known about the rank.
        extra: Notices about the whole job, kept with this rank.
    """
    host, device = _joined_tables(files)
    steps = pl.concat(
        [f.found.table.with_columns(window=pl.lit(n, pl.Int64)) for n, f in enumerate(files)]
    ).sort("start_ns")
    judged = health.judge(tuple(files), host, device, steps, group.rank)
    notices = [*judged.notices, *extra, *_startup_notice(group, host, steps)]
    sources = [f.found.source for f in files if len(f.found.table)]
    return Trace(
        meta=_meta(files[0], group),
        host=host,
        device=device,
        memory=_joined_memory(files),
        steps=steps,
        step_source=sources[0] if sources else "window",
        windows=tuple(f.window for f in files),
        usable=judged.usable,
        gpu_recorded=judged.gpu_recorded,
        notices=tuple(notices),
    )


def _joined_tables(files: Sequence[TraceFile]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Host and device tables of all windows; row numbers are moved along."""
    names = [c.name for c in tables.HOST.columns]
    hosts, devices, offset = [empty(tables.HOST)], [empty(tables.DEVICE)], 0
    for file in files:
        hosts.append(file.tables.host.select(names).with_columns(pl.col("parent") + offset))
        devices.append(
            file.tables.device.with_columns(pl.col("launch") + offset, pl.col("operator") + offset)
        )
        offset += len(file.tables.host)
    return pl.concat(hosts), pl.concat(devices)


def _joined_memory(files: Sequence[TraceFile]) -> pl.DataFrame:
    """Memory events of all windows in the order of their times, which those of one file are in already."""
    first, *others = (file.tables.memory for file in files)
    return pl.concat([first, *others]).sort("time_ns", maintain_order=True) if others else first


def _startup_notice(group: RankFiles, host: pl.DataFrame, steps: pl.DataFrame) -> list[Notice]:
    """Says when first calls fill a good part of the recorded time."""
    marked = steps.filter("is_startup")
    if len(marked):
        text = f"{len(marked)} of {len(steps)} steps are start-up (first calls, or a queue that fills) and are left out of steady figures."
        return [Notice(code="startup-steps", count=len(marked), text=text, rank=group.rank)]
    start = np.array([f.window.start_ns for f in group.files])
    end = np.array([f.window.end_ns for f in group.files])
    length = int((end - start).sum())
    inside = int(startup.first_call_ns(host, start, end).sum())
    if length and inside > STARTUP_SHARE * length:
        text = f"First calls (loading of modules, compilation, set-up of communication) fill {format_frac(inside / length)} of the window."
        return [Notice(code="startup-in-window", count=1, text=text, rank=group.rank)]
    return []


def _meta(first: TraceFile, group: RankFiles) -> TraceMeta:
    info = first.header.values.get("distributedInfo")
    backend = info.get("backend") if isinstance(info, dict) else None
    host_name = first.header.values.get("host_name")
    return TraceMeta(
        rank=group.rank,
        rank_source=group.rank_source,
        world_size=ranks.world_size(first),
        backend=backend if isinstance(backend, str) else None,
        host_name=host_name if isinstance(host_name, str) else None,
        devices=trace_file.devices(first.header),
        clock=first.clock,
        flags=frozenset(o for o in OPTIONS if first.header.values.get(o)),
        groups=process_groups(first.header.values),
    )
