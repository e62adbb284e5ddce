"""The tables of a trace kept beside it as Parquet, so that a second opening takes no reading.

``trace.json.gz`` gets a folder ``trace.json.gz.stepscope-cache``. It counts while size, time of change and
this package's version are the same. A folder that cannot be written or read is no error: the trace itself
is read.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from stepscope._version import __version__
from stepscope.schema import tables
from stepscope.schema.report import StepSource  # noqa: TC001  (msgspec reads the annotations)
from stepscope.trace.file import TraceFile
from stepscope.trace.header import Header
from stepscope.trace.model import Window
from stepscope.trace.repair import Repairs  # noqa: TC001
from stepscope.trace.source import STANDARD_INPUT, is_address
from stepscope.trace.steps import FoundSteps
from stepscope.trace.tables import DTYPES, FileTables
from stepscope.trace.timed import Dropped  # noqa: TC001

if TYPE_CHECKING:
    from stepscope.schema.column import Table

FORM = 2
"""Raised whenever what is kept changes."""
SUFFIX = ".stepscope-cache"
ABOUT = "about.msgpack"


class _About(msgspec.Struct):
    """Everything of a :class:`TraceFile` that is no table, and what it was made from."""

    origin: tuple[int, str, int, int, bool]
    header: dict[str, Any]
    header_salvaged: bool
    header_keys: list[str]
    more_events: int
    step_source: StepSource
    start_ns: int
    end_ns: int
    clock: str
    complete: int
    python: int
    unknown: dict[str, int]
    long_names: int
    collective_rank: int | None
    truncated: bool
    lost_bytes: int
    trailing_junk: int
    repairs: Repairs
    dropped: Dropped
    by_flow: int


def folder_of(path: str) -> Path:
    """Where the tables of a trace are kept."""
    return Path(path + SUFFIX)


def load(path: str, *, with_python: bool) -> TraceFile | None:
    """What was kept of a file; None when nothing was, or when the file has changed since."""
    origin = _origin(path, with_python=with_python)
    if origin is None:
        return None
    folder = folder_of(path)
    try:
        about = msgspec.msgpack.decode((folder / ABOUT).read_bytes(), type=_About)
        if about.origin != origin:
            return None
        return _file(path, about, folder)
    except (OSError, ValueError, pl.exceptions.PolarsError, msgspec.MsgspecError):
        return None


def store(file: TraceFile, *, with_python: bool) -> None:
    """Keeps the tables of a file; does nothing where that is not possible."""
    origin = _origin(file.path, with_python=with_python)
    if origin is None:
        return
    folder = folder_of(file.path)
    made = folder.with_name(folder.name + ".new")
    try:
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        frames = {"host": file.tables.host, "device": file.tables.device}
        frames |= {"memory": file.tables.memory, "steps": file.found.table}
        for name, frame in frames.items():
            frame.write_parquet(made / f"{name}.parquet", compression="lz4", statistics=False)
        (made / ABOUT).write_bytes(msgspec.msgpack.encode(_about(file, origin)))
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    except (OSError, OverflowError, TypeError):
        shutil.rmtree(made, ignore_errors=True)


def _origin(path: str, *, with_python: bool) -> tuple[int, str, int, int, bool] | None:
    """What the tables were made from and by; None where nothing can be kept."""
    if path == STANDARD_INPUT or is_address(path):
        return None
    try:
        if not Path(path).is_file():
            return None
        state = Path(path).stat()
    except (OSError, ValueError):
        return None
    return FORM, __version__, state.st_size, state.st_mtime_ns, with_python


def _about(file: TraceFile, origin: tuple[int, str, int, int, bool]) -> _About:
    return _About(
        origin=origin,
        header=file.header.values,
        header_salvaged=file.header.salvaged,
        header_keys=sorted(file.header.keys),
        more_events=file.header.more_events,
        step_source=file.found.source,
        start_ns=file.window.start_ns,
        end_ns=file.window.end_ns,
        clock=file.clock,
        complete=file.complete,
        python=file.python,
        unknown=file.unknown,
        long_names=file.long_names,
        collective_rank=file.collective_rank,
        truncated=file.truncated,
        lost_bytes=file.lost_bytes,
        trailing_junk=file.trailing_junk,
        repairs=file.repairs,
        dropped=file.tables.dropped,
        by_flow=file.tables.by_flow,
    )


def _file(path: str, about: _About, folder: Path) -> TraceFile:
    host = _frame(folder, tables.HOST, is_open=pl.Boolean())
    return TraceFile(
        path=path,
        header=Header(
            about.header, about.header_salvaged, frozenset(about.header_keys), about.more_events
        ),
        tables=FileTables(
            host=host,
            device=_frame(folder, tables.DEVICE),
            memory=_frame(folder, tables.MEMORY),
            dropped=about.dropped,
            by_flow=about.by_flow,
        ),
        found=FoundSteps(about.step_source, _frame(folder, tables.STEPS)),
        window=Window(path, about.start_ns, about.end_ns),
        clock=about.clock,
        complete=about.complete,
        python=about.python,
        unknown=about.unknown,
        long_names=about.long_names,
        collective_rank=about.collective_rank,
        truncated=about.truncated,
        lost_bytes=about.lost_bytes,
        trailing_junk=about.trailing_junk,
        repairs=about.repairs,
    )


def _frame(folder: Path, table: Table, **more: pl.DataType) -> pl.DataFrame:
    """A kept table; ValueError when it has another form."""
    frame = pl.read_parquet(folder / f"{table.name}.parquet")
    form = {column.name: DTYPES[column.dtype] for column in table.columns} | more
    if dict(frame.schema) != form:
        raise ValueError(f"table {table.name} has another form")
    return frame
