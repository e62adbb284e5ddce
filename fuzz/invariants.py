"""What must hold of every trace that was read, however damaged its file is."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from stepscope.analysis import partition
from stepscope.analysis.results import run_all
from stepscope.errors import StepscopeError
from stepscope.schema import tables
from stepscope.trace import compiled, load
from stepscope.trace.tables import DTYPES

if TYPE_CHECKING:
    import polars as pl

    from stepscope.schema.column import Table
    from stepscope.trace import Trace


class BrokenInvariantError(AssertionError):
    """Something that must hold does not."""


def check_file(path: str, *, with_python: bool) -> str:
    """Reads and analyses a file.

    Returns:
        ``read``, or ``refused`` when the reader said in one line why it cannot.

    Raises:
        BrokenInvariantError: Something that must hold does not.
    """
    try:
        traces = load([path], with_python=with_python)
    except StepscopeError as error:
        hold(error.exit_status == 2, f"exit status {error.exit_status}")
        hold("\n" not in str(error), "an error of more than one line")
        return "refused"
    hold(len(traces) > 0, "no rank")
    check_alone(path, traces, with_python=with_python)
    for trace in traces:
        check_trace(trace)
        run_all(trace)
    return "read"


def check_alone(path: str, traces: list[Trace], *, with_python: bool) -> None:
    """Reads the file a second time without the compiled core; everything must be equal.

    Raises:
        BrokenInvariantError: Something is not.
    """
    with patch.object(compiled, "core", None):
        alone = load([path], with_python=with_python)
    hold(len(alone) == len(traces), "ranks that only one way of reading finds")
    for one, other in zip(traces, alone, strict=True):
        for name in (*(table.name for table in tables.ALL), "steps"):
            hold(
                getattr(one, name).equals(getattr(other, name)), f"{name} differs without the core"
            )
        hold(one.notices == other.notices, "notices that differ without the core")
        hold(one.meta == other.meta, "facts that differ without the core")


def check_trace(trace: Trace) -> None:
    """Raises :class:`BrokenInvariantError` when something that must hold does not."""
    for table in tables.ALL:
        _check_form(getattr(trace, table.name), table)
    _check_host(trace.host)
    _check_device(trace)
    _check_steps(trace)
    _check_partition(trace)


def hold(condition: object, what: str) -> None:
    """Raises :class:`BrokenInvariantError` unless the condition is true."""
    if not condition:
        raise BrokenInvariantError(what)


def _check_form(frame: pl.DataFrame, table: Table) -> None:
    hold(frame.columns == [c.name for c in table.columns], f"columns of {table.name}")
    for column in table.columns:
        hold(
            frame.schema[column.name] == DTYPES[column.dtype], f"type of {table.name}.{column.name}"
        )
        if not column.nullable:
            hold(not frame[column.name].null_count(), f"null in {table.name}.{column.name}")


def _check_host(host: pl.DataFrame) -> None:
    start, end = host["start_ns"].to_numpy(), host["end_ns"].to_numpy()
    own, depth = host["self_ns"].to_numpy(), host["depth"].to_numpy()
    hold((end >= start).all(), "a host event of negative length")
    hold((np.diff(start) >= 0).all(), "host events out of order")
    hold(((own >= 0) & (own <= end - start)).all(), "self time outside the event")
    parent = host["parent"].fill_null(-1).to_numpy()
    inside = parent >= 0
    rows = np.arange(len(host))
    hold((parent < rows).all(), "a parent behind its child")
    hold((depth[~inside] == 0).all(), "a root with a depth")
    hold(
        (depth[inside] == depth[parent[inside]] + 1).all(),
        "a depth that is not the parent's and one",
    )
    hold((start[parent[inside]] <= start[inside]).all(), "a parent that starts later")
    for name in ("pid", "tid"):
        ids = host[name].to_numpy()
        hold((ids[parent[inside]] == ids[inside]).all(), "a parent in another thread")


def _check_device(trace: Trace) -> None:
    device, host = trace.device, trace.host
    start, end = device["start_ns"].to_numpy(), device["end_ns"].to_numpy()
    hold((end >= start).all(), "device work of negative length")
    hold((np.diff(start) >= 0).all(), "device work out of order")
    kind = host["kind"].cast(str).to_numpy()
    for name, kinds in (("launch", ("runtime", "driver")), ("operator", ("operator",))):
        rows = device[name].drop_nulls().to_numpy()
        hold(((rows >= 0) & (rows < len(host))).all(), f"a {name} that is no row")
        hold(np.isin(kind[rows], kinds).all(), f"a {name} of another kind")


def _check_steps(trace: Trace) -> None:
    start, end = trace.steps["start_ns"].to_numpy(), trace.steps["end_ns"].to_numpy()
    hold((end >= start).all(), "a step of negative length")
    hold((start[1:] >= end[:-1]).all(), "steps that overlap")
    hold(len(trace.windows) > 0, "no window")
    hold(all(w.end_ns >= w.start_ns for w in trace.windows), "a window of negative length")


def _check_partition(trace: Trace) -> None:
    found = partition.run(trace)
    hold((found.ns >= 0).all(), "a negative part")
    if len(trace.steps):
        lengths = (trace.steps["end_ns"] - trace.steps["start_ns"]).to_numpy()
    else:
        lengths = np.array([w.end_ns - w.start_ns for w in trace.windows])
    hold((found.ns.sum(axis=1) == lengths).all(), "parts that do not sum to their step")
