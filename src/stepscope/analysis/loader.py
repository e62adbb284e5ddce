"""How long training waited for the DataLoader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.loader_names import SINGLE_PROCESS
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace


class Loader(Struct, frozen=True, eq=False):
    """Waits for the DataLoader.

    Attributes:
        wait_ns: Over the file, as a union, so that nested ranges count once.
        count: Outermost waits.
        per_step_ns: Wait inside each step, shape ``(steps,)``.
        is_single_process: Whether batches are made in the training process (``num_workers=0``);
            ``None`` when the names do not tell or there is no wait.
        longest_ns: The longest wait; 0 without any.
    """

    wait_ns: int
    count: int
    per_step_ns: Ints
    is_single_process: bool | None
    longest_ns: int


def run(trace: Trace) -> Loader:
    """All waits for the next batch, whatever the era or framework that named them."""
    waits = trace.host.filter(call_names.loader_waits(trace.host))
    cover = iv.of(waits)
    names = waits.get_column("name").unique().cast(pl.String)
    single = bool(names.str.contains(SINGLE_PROCESS, literal=True).any())
    multi = bool(names.str.contains("_MultiProcessing", literal=True).any())
    return Loader(
        wait_ns=iv.total(cover),
        count=len(cover),
        per_step_ns=iv.measure(cover, scope_of(trace).bounds),
        is_single_process=single if single != multi else None,
        longest_ns=int((cover[:, 1] - cover[:, 0]).max(initial=0)),
    )


ANALYSIS = Analysis("loader", run, "Waiting for the DataLoader.")
