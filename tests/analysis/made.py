"""Traces made by hand as tables, in microseconds, without a file."""

from __future__ import annotations

import numpy as np
import polars as pl

from stepscope.schema import tables
from stepscope.trace.model import Device, Trace, TraceMeta, Window
from stepscope.trace.nesting import nest
from stepscope.trace.tables import DTYPES

US = 1_000
A100 = Device(0, "NVIDIA A100", 108, (8, 0), 40 * 2**30, 32, 2048)
V100 = Device(0, "Tesla V100", 80, (7, 0), 32 * 2**30, 32, 2048)


def table(spec, rows):
    """Rows as dictionaries to a table with all columns of the specification, missing ones null."""
    schema = {column.name: DTYPES[column.dtype] for column in spec.columns}
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def host(kind, name, start, end, *, tid=1, **more):
    """A host event, times in microseconds."""
    return {
        "kind": kind,
        "name": name,
        "pid": 1,
        "tid": tid,
        "start_ns": start * US,
        "end_ns": end * US,
        **more,
    }


def op(name, start, end, **more):
    """An operator."""
    return host("operator", name, start, end, **more)


def note(name, start, end, **more):
    """An annotation."""
    return host("annotation", name, start, end, **more)


def call(name, start, end, correlation=None, **more):
    """A call of the device's runtime."""
    return host("runtime", name, start, end, correlation=correlation, **more)


def device(kind, name, start, end, correlation=None, **more):
    """Work on device 0, stream 7."""
    base = {"device": 0, "stream": 7, "is_communication": False}
    times = {"kind": kind, "name": name, "start_ns": start * US, "end_ns": end * US}
    return {**base, **times, "correlation": correlation, **more}


def kernel(start, end, correlation=None, name="sgemm", **more):
    """A kernel."""
    return device("kernel", name, start, end, correlation, **more)


def host_table(rows):
    """Table HOST, sorted and nested."""
    frame = table(tables.HOST, rows).sort("start_ns", -pl.col("end_ns"), maintain_order=True)
    thread = frame["tid"].to_numpy()
    depth, parent, own = nest(thread, frame["start_ns"].to_numpy(), frame["end_ns"].to_numpy())
    return frame.with_columns(
        depth=pl.Series(depth),
        self_ns=pl.Series(own),
        parent=pl.when(pl.Series(parent) >= 0).then(pl.Series(parent)),
    )


def linked_to(host_rows, work):
    """The device table with launches by correlation and the operators around them."""
    calls = (
        host_rows.with_row_index("launch")
        .filter(pl.col("correlation").is_not_null())
        .select("correlation", pl.col("launch").cast(pl.Int64))
        .unique("correlation", keep="first", maintain_order=True)
    )
    linked = work.join(calls, on="correlation", how="left", maintain_order="left")
    parents, kinds = host_rows["parent"].to_list(), host_rows["kind"].to_list()
    around = []
    for row in linked["launch"].to_list():
        at = row
        while at is not None and kinds[at] != "operator":
            at = parents[at]
        around.append(at)
    return linked.with_columns(operator=pl.Series(around, dtype=pl.Int64))


def trace(
    hosts=(),
    devices=(),
    *,
    steps=(),
    startup=(),
    partial=(),
    window=(0, 100),
    windows=None,
    memory=(),
    listed=(A100,),
    gpu_recorded="auto",
    usable=True,
    rank=None,
    rank_source="none",
    world_size=None,
):
    """One rank; ``steps`` are pairs of microseconds, ``startup`` and ``partial`` positions in them."""
    host_rows = host_table(hosts)
    work = (
        table(tables.DEVICE, devices)
        .sort("start_ns", "device", "stream")
        .drop("launch", "operator")
    )
    linked = linked_to(host_rows, work).select(column.name for column in tables.DEVICE.columns)
    step_rows = [
        {
            "number": number,
            "window": 0,
            "start_ns": start * US,
            "end_ns": end * US,
            "is_startup": number in startup,
            "is_partial": number in partial,
        }
        for number, (start, end) in enumerate(steps)
    ]
    recorded = (True if len(linked) else None) if gpu_recorded == "auto" else gpu_recorded
    meta = TraceMeta(rank, rank_source, world_size, None, None, tuple(listed), "epoch", frozenset())
    return Trace(
        meta=meta,
        host=host_rows,
        device=linked,
        memory=table(tables.MEMORY, memory),
        steps=table(tables.STEPS, step_rows),
        step_source="profiler-step" if steps else "window",
        windows=tuple(Window("made", s * US, e * US) for s, e in windows or [window]),
        usable=usable,
        gpu_recorded=recorded,
        notices=(),
    )


def parts(result, row=0):
    """Parts of one step in microseconds, without those that are 0."""
    return {
        name: ns / US
        for name, ns in zip(result.parts, np.asarray(result.ns)[row].tolist(), strict=True)
        if ns
    }
