"""Calls that get memory from the device's driver, in steady steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.trace.model import Trace


class Allocator(Struct, frozen=True):
    """Allocations and frees that reach the driver.

    Attributes:
        count: Such calls in the file.
        steady_count: Those that begin in steady steps (windows without steps).
        steady_ns: Time in them, as a union, inside steady steps.
    """

    count: int
    steady_count: int
    steady_ns: int


def run(trace: Trace) -> Allocator:
    """Counts and times the calls; a caching allocator makes none once it is warm."""
    rows = call_names.matching(trace.host, call_names.ALLOCATOR, call_names.CALLS)
    calls = trace.host.filter(rows)
    scope = scope_of(trace)
    steady = iv.union(scope.bounds[scope.is_steady])
    return Allocator(
        count=int(np.count_nonzero(rows)),
        steady_count=int(iv.contains(steady, calls["start_ns"].to_numpy()).sum()),
        steady_ns=iv.total(iv.intersect(iv.of(calls), steady)),
    )


ANALYSIS = Analysis("allocator", run, "Driver allocations in steady steps.")
