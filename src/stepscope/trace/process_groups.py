"""The process groups that a trace's header lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

_LIST = re.compile(r"\[\s*(\d+(?:\s*,\s*\d+)*)\s*\]")


class ProcessGroup(Struct, frozen=True):
    """A group of ranks that communicate with each other.

    Attributes:
        name: As collectives name it.
        description: What the program calls it, for instance ``mesh_tp``; ``""`` when it says nothing.
        ranks: Its members; empty when they are not listed in full.
    """

    name: str
    description: str
    ranks: tuple[int, ...]


def process_groups(header: Mapping[str, Any]) -> tuple[ProcessGroup, ...]:
    """The entries of ``distributedInfo.pg_config`` that have a name.

    Args:
        header: Keys beside the list of events.
    """
    info = header.get("distributedInfo")
    listed = info.get("pg_config") if isinstance(info, dict) else None
    if not isinstance(listed, list):
        return ()
    return tuple(
        _group(entry)
        for entry in listed
        if isinstance(entry, dict) and isinstance(entry.get("pg_name"), str)
    )


def _group(entry: dict[str, Any]) -> ProcessGroup:
    description = entry.get("pg_desc")
    return ProcessGroup(
        name=entry["pg_name"],
        description=description
        if isinstance(description, str) and description != "undefined"
        else "",
        ranks=_ranks(entry.get("ranks")),
    )


def _ranks(value: object) -> tuple[int, ...]:
    """Members as a list, or as the text of one, which some writers give."""
    if isinstance(value, list) and all(type(rank) is int for rank in value):
        return tuple(value)
    match = _LIST.fullmatch(value.strip()) if isinstance(value, str) else None
    return tuple(int(rank) for rank in match[1].split(",")) if match else ()
