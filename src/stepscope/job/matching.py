"""Which calls on different ranks are the same collective."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from msgspec import Struct

if TYPE_CHECKING:
    from stepscope.job.grouping import AllCalls, CallGroup

LEAST_BY_STEP = 0.5
"""Steps tell calls apart when they match at least this share of them."""

SAME_SIZE = ("all-reduce", "broadcast", "reduce")
"""Kinds whose message has one size on all ranks."""


class Matched(Struct, frozen=True, eq=False):
    """Collectives that every rank of their group recorded.

    Attributes:
        calls: The columns of ``AllCalls.calls`` and ``match``, the number of the collective.
        unmatched: Calls in whole groups that have no partner on some rank.
        incomplete: Groups of which ranks are missing, with calls that nothing can be compared with.
    """

    calls: pl.DataFrame
    unmatched: int
    incomplete: tuple[CallGroup, ...]


def match(everything: AllCalls) -> Matched:
    """Matches calls group by group: by sequence number, else by step and order, else by order."""
    parts, offset, unmatched = [], 0, 0
    incomplete = []
    for number, group in enumerate(everything.groups):
        if not group.is_whole:
            incomplete.append(group)
            continue
        calls = everything.calls.filter(pl.col("group_id") == number)
        found = _in_group(calls, len(group.places))
        unmatched += len(calls) - len(found)
        if len(found):
            parts.append(found.with_columns(pl.col("match") + offset))
            offset = int(parts[-1]["match"].max()) + 1  # type: ignore[arg-type]
    empty = everything.calls.clear().with_columns(match=pl.lit(None, pl.Int64))
    return Matched(pl.concat([empty, *parts]), unmatched, tuple(incomplete))


def _in_group(calls: pl.DataFrame, size: int) -> pl.DataFrame:
    # A send on one rank is a receive on the other; in a pair there is no doubt which.
    calls = calls if size == 2 else calls.filter(pl.col("kind") != "send/recv")
    if not len(calls):
        return calls.with_columns(match=pl.lit(None, pl.Int64))
    if not calls["sequence"].null_count():
        found = _matched(calls, ["sequence", "kind"], size)
        if len(found):
            return found
    if calls["step"].null_count() < len(calls):
        inside = calls.filter(pl.col("step").is_not_null())
        found = _matched(_of_equal_count(inside, ["step", "kind"], size), ["step", "kind"], size)
        if len(found) >= LEAST_BY_STEP * len(inside):
            return found
    return _matched(_of_equal_count(calls, ["kind"], size), ["kind"], size)


def _of_equal_count(calls: pl.DataFrame, keys: list[str], size: int) -> pl.DataFrame:
    """Calls of the keys that every rank has equally often: without numbers, order alone tells them apart."""
    counts = calls.group_by(*keys, "place").len()
    equal = counts.group_by(keys).agg(pl.len().alias("ranks"), pl.n_unique("len").alias("counts"))
    kept = equal.filter((pl.col("ranks") == size) & (pl.col("counts") == 1)).select(keys)
    return calls.join(kept, on=keys, how="semi", maintain_order="left")


def _matched(calls: pl.DataFrame, keys: list[str], size: int) -> pl.DataFrame:
    """Calls with the same keys and the same place in their order on every rank of the group."""
    numbered = calls.with_columns(turn=pl.int_range(pl.len()).over([*keys, "place"]))
    keys = [*keys, "turn"]
    one_size = pl.n_unique("bytes") == 1
    groups = (
        numbered.group_by(keys)
        .agg(pl.n_unique("place").alias("ranks"), one_size.alias("same"), pl.min("start_ns"))
        .filter((pl.col("ranks") == size) & (pl.col("same") | ~pl.col("kind").is_in(SAME_SIZE)))
        .sort("start_ns", *keys)
        .with_row_index("match")
        .select(*keys, pl.col("match").cast(pl.Int64))
    )
    return numbered.join(groups, on=keys, how="inner", maintain_order="left").drop("turn")
