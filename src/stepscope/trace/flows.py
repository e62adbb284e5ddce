"""Flow events: the arrows from a launch to the work that it started, whatever they are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from stepscope.trace.events import ABSENT

if TYPE_CHECKING:
    from stepscope.trace.rows import Column, Rows


def arrows(rows: Rows, base_ns: int) -> pl.DataFrame | None:
    """Flow events with both ends.

    Args:
        rows: Raw rows of flow events; given up.
        base_ns: Nanoseconds to add to every time.

    Returns:
        One row an arrow: ``from_pid``, ``from_tid``, ``from_ns`` (the launching thread) and ``to_pid``,
        ``to_tid``, ``to_ns`` (device, stream and start of the work); None when there are none.
    """
    if not rows.count:
        return None
    is_start, number = rows.take("is_start"), rows.take("id")
    place = {name: rows.take(name) for name in ("pid", "tid", "time_ns")}
    known = (number != ABSENT) & (place["time_ns"] != ABSENT)

    def ends(side: str, chosen: Column) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "id": number[chosen],
                f"{side}_pid": place["pid"][chosen],
                f"{side}_tid": place["tid"][chosen],
                f"{side}_ns": place["time_ns"][chosen] + base_ns,
            }
        )

    starts = ends("from", known & is_start).unique("id", keep="none")
    found = ends("to", known & ~is_start).join(starts, on="id", how="inner")
    return found if len(found) else None
