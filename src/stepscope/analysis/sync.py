"""Calls that kept the host waiting for the device, and what forced them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import ancestry, call_names
from stepscope.trace import intervals as iv
from stepscope.trace.idle import blocking_calls, idle_of
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace

_WRAPPER = (
    r"^autograd::engine::|^Torch-Compiled Region|^CompiledFunction|^aten::_local_scalar_dense$"
)
"""Operators that enclose what forces a wait without being its reason."""

_LIBRARY_FRAME = (
    r"^<|^nn\.Module: |site-packages|dist-packages|(^|[/\\])torch[/\\]|lib[/\\]python\d"
)
"""Python frames that are not the user's own lines."""


class Culprit(Struct, frozen=True):
    """All blocking calls with the same reason.

    Attributes:
        operator: Outermost operator around the call that is a reason, for instance ``aten::item``;
            the call's own name when no operator encloses it.
        line: The user's innermost Python frame around it, or the line that sampling saw there; ``None``
            without either.
        count: Calls inside the steady steps or windows.
        blocked_ns: How long the host was blocked in them.
        refill_ns: Device idle time that followed from them.
    """

    operator: str
    line: str | None
    count: int
    blocked_ns: int
    refill_ns: int


class Sync(Struct, frozen=True, eq=False):
    """Blocking calls of the rank.

    Attributes:
        per_step: Calls that begin in each step, shape ``(steps,)``.
        blocked_ns: Time blocked inside each step, as a union, shape ``(steps,)``.
        culprits: By reason, largest refill first, over steady steps or windows.
        calls: The calls of each culprit as a set of intervals, in the same order.
    """

    per_step: Ints
    blocked_ns: Ints
    culprits: tuple[Culprit, ...]
    calls: tuple[Ints, ...] = ()


def run(trace: Trace) -> Sync:
    """Counts blocking calls and adds up the device's idle time behind them."""
    scope = scope_of(trace)
    host = trace.host
    rows = np.flatnonzero(blocking_calls(trace))
    start, end = (host.get_column(name).to_numpy()[rows] for name in ("start_ns", "end_ns"))
    begins = np.searchsorted(start, scope.bounds)
    blocked = iv.union(iv.pairs(start, end))
    steady = iv.union(scope.bounds[scope.is_steady])
    culprits = _culprits(trace, rows, steady)
    return Sync(
        per_step=(begins[:, 1] - begins[:, 0]).astype(np.int64),
        blocked_ns=iv.measure(blocked, scope.bounds),
        culprits=tuple(culprit for culprit, _ in culprits),
        calls=tuple(calls for _, calls in culprits),
    )


def _culprits(trace: Trace, rows: Ints, steady: Ints) -> list[tuple[Culprit, Ints]]:
    """Each with the intervals of its calls."""
    host = trace.host
    start = host.get_column("start_ns").to_numpy()[rows]
    rows = rows[iv.contains(steady, start)]
    if not len(rows):
        return []
    refill = _refills(trace, len(host), steady)[rows]
    names = host.get_column("name").cast(pl.String)
    reason = names.gather(_reason(trace, rows))
    frame = _user_frame(trace, rows)
    table = pl.DataFrame(
        {
            "operator": reason,
            "line": names.gather(np.maximum(frame, 0)),
            "has_line": frame >= 0,
            "start": host["start_ns"].gather(rows),
            "end": host["end_ns"].gather(rows),
            "refill": refill,
        }
    ).with_columns(line=pl.when("has_line").then("line"))
    grouped = (
        table.group_by("operator", "line")
        .agg(
            pl.len().alias("count"),
            (pl.col("end") - pl.col("start")).sum().alias("blocked"),
            pl.sum("refill"),
            "start",
            "end",
        )
        .sort(["refill", "blocked", "operator", "line"], descending=[True, True, False, False])
    )
    return [
        (Culprit(*row), iv.union(iv.pairs(np.array(start), np.array(end))))
        for *row, start, end in grouped.iter_rows()
    ]


def _refills(trace: Trace, count: int, steady: Ints) -> Ints:
    """Refill behind each row of ``host``, inside the steady steps."""
    out = np.zeros(count, dtype=np.int64)
    if trace.device.is_empty():
        return out
    idle = idle_of(trace)
    starts = idle.gaps[:, 0]
    inside = iv.measure(steady, iv.pairs(starts, starts + idle.refill_ns))
    hit = idle.blocked_by >= 0
    np.add.at(out, idle.blocked_by[hit], inside[hit])
    return out


def _reason(trace: Trace, rows: Ints) -> Ints:
    """The outermost operator around each call that is no mere wrapper, else the call itself."""
    host = trace.host
    is_reason = call_names.operators(host)
    is_reason &= ~call_names.matching(host, _WRAPPER, ("operator",))
    return _outermost(ancestry.nearest(host, is_reason), rows)


def _outermost(above: Ints, rows: Ints) -> Ints:
    at = rows
    while True:
        higher = np.where(above[at] >= 0, above[at], at)
        if (higher == at).all():
            return at
        at = higher


def _user_frame(trace: Trace, rows: Ints) -> Ints:
    host = trace.host
    python = call_names.of_kind(host, "python")
    if not python.any():
        return np.full(len(rows), -1, dtype=np.int64)
    own: Bools = python & ~call_names.matching(host, _LIBRARY_FRAME, ("python",))
    return ancestry.nearest(host, own)[rows]


ANALYSIS = Analysis("sync", run, "Blocking calls, what forced them and the idle time behind them.")
