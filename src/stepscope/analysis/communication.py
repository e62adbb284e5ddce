"""Communication between ranks: how much is hidden behind compute and what it consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import call_names
from stepscope.trace import intervals as iv

if TYPE_CHECKING:
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace


class Collective(Struct, frozen=True):
    """All calls of one collective in one group with one element type.

    Attributes:
        name: Name of the collective, else of the kernel.
        dtype: Element type; ``None`` where not recorded.
        group_name, group_size: Process group; ``None`` where not recorded.
        count, total_ns: Calls and their summed duration, waiting for other ranks included.
        elements: Elements of the larger side of the messages, summed; ``None`` where not recorded.
    """

    name: str
    dtype: str | None
    group_name: str | None
    group_size: int | None
    count: int
    total_ns: int
    elements: int | None


class Communication(Struct, frozen=True, eq=False):
    """Communication kernels of the rank.

    Attributes:
        total_ns: Their union over the file; 0 where the host carries out the collectives.
        exposed_ns: What of it no other kernel covers.
        hidden_ns: The rest.
        collectives: By name, group and type, longest first; the host's own where the device has none.
        calls: Start and end of every communication kernel in order, shape ``(n, 2)``, ns; of the
            host's own collectives where the device has none.
        call_names: What each of them is, so that ranks can be compared call by call.
    """

    total_ns: int
    exposed_ns: int
    hidden_ns: int
    collectives: tuple[Collective, ...]
    calls: Ints
    call_names: tuple[str, ...]


def run(trace: Trace) -> Communication:
    """Exposed and hidden communication, and its collectives."""
    device = trace.device
    moves = device.get_column("is_communication")
    kind = device.get_column("kind").cast(pl.String)
    both = iv.of(device.filter(moves))
    exposed = iv.subtract(
        both, iv.of(device.filter(~moves & kind.is_in(["kernel", "accelerator"])))
    )
    calls = device.filter(moves).with_columns(
        what=pl.coalesce("collective", pl.col("name").cast(pl.String))
    )
    if calls.is_empty():
        calls = _host_calls(trace.host)
    calls = calls.with_columns(spent=pl.col("end_ns") - pl.col("start_ns"))
    named = calls.select(pl.concat_str("what", pl.col("group_name").fill_null(""), separator="@"))
    return Communication(
        total_ns=iv.total(both),
        exposed_ns=iv.total(exposed),
        hidden_ns=iv.total(both) - iv.total(exposed),
        collectives=_collectives(calls),
        calls=iv.pairs(calls["start_ns"].to_numpy(), calls["end_ns"].to_numpy()),
        call_names=tuple(named.to_series().to_list()),
    )


def _host_calls(host: pl.DataFrame) -> pl.DataFrame:
    """Collectives that the host carries out, with the columns of those on a device."""
    rows = host.filter(call_names.matching(host, call_names.HOST_TRANSFER, call_names.RANGES))
    return rows.select(
        "start_ns",
        "end_ns",
        what=pl.col("name").cast(pl.String),
        collective_dtype=pl.lit(None, pl.String),
        collective_elements=pl.lit(None, pl.Int64),
        group_name=pl.lit(None, pl.String),
        group_size=pl.lit(None, pl.Int64),
    )


def _collectives(calls: pl.DataFrame) -> tuple[Collective, ...]:
    keys = ["what", "collective_dtype", "group_name", "group_size"]
    known = pl.col("collective_elements").count() > 0
    rows = (
        calls.group_by(keys)
        .agg(
            pl.len().alias("count"),
            pl.sum("spent"),
            pl.when(known).then(pl.sum("collective_elements")).alias("elements"),
        )
        .sort(["spent", *keys], descending=[True, False, False, False, False])
    )
    return tuple(Collective(*row) for row in rows.iter_rows())


ANALYSIS = Analysis("communication", run, "Exposed and hidden communication, by collective.")
