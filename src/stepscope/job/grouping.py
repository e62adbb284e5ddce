"""The collectives of all ranks in one table, and which process groups are there in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.job.digest import RankDigest


class CallGroup(Struct, frozen=True):
    """A process group whose collectives were recorded.

    Attributes:
        name: As collectives name it; ``""`` where they name none.
        description: What the program calls it; ``""`` when it says nothing.
        places: Positions of the ranks that recorded calls in it.
        size: Ranks that it has; ``None`` where nothing tells.
    """

    name: str
    description: str
    places: tuple[int, ...]
    size: int | None

    @property
    def is_whole(self) -> bool:
        """Whether every member was recorded, so that the last one to come is among them."""
        return len(self.places) > 1 and len(self.places) == self.size


class AllCalls(Struct, frozen=True, eq=False):
    """Collectives of all ranks.

    Attributes:
        calls: Columns of ``analysis.collectives.SCHEMA``, ``place`` (position of the rank), ``row`` (in
            the rank's own table) and ``group_id`` (position in ``groups``).
        groups: The process groups.
    """

    calls: pl.DataFrame
    groups: tuple[CallGroup, ...]


def all_calls(ranks: Sequence[RankDigest]) -> AllCalls:
    """Puts the calls of all ranks together; a name that stands for several groups is told apart by members."""
    members: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    sizes: dict[tuple[str, tuple[int, ...]], int | None] = {}
    words: dict[tuple[str, tuple[int, ...]], str] = {}
    frames = []
    for place, one in enumerate(ranks):
        found = one.results.collectives
        listed = {group.name: group for group in found.groups}
        for name, size in found.calls.group_by("group").agg(pl.max("group_size")).iter_rows():
            entry = listed.get(name)
            key = (name, entry.ranks if entry else ())
            members.setdefault(key, []).append(place)
            sizes[key] = _size(one, name, size, len(key[1]))
            words[key] = entry.description if entry else ""
        frames.append(
            found.calls.with_row_index("row").with_columns(
                pl.lit(place, pl.Int64).alias("place"), pl.col("row").cast(pl.Int64)
            )
        )
    keys = sorted(members)
    groups = tuple(CallGroup(key[0], words[key], tuple(members[key]), sizes[key]) for key in keys)
    owners = pl.DataFrame(
        [(key[0], place, number) for number, key in enumerate(keys) for place in members[key]],
        schema={"group": pl.String, "place": pl.Int64, "group_id": pl.Int64},
        orient="row",
    )
    calls = pl.concat(frames).join(owners, on=["group", "place"], how="left", maintain_order="left")
    return AllCalls(calls, groups)


def _size(one: RankDigest, name: str, recorded: int | None, listed: int) -> int | None:
    """Members by the calls, else by the header's list, else, without a name, all ranks of the job."""
    if recorded is not None and recorded > 0:
        return recorded
    if listed:
        return listed
    return one.results.facts.world_size if not name else None
