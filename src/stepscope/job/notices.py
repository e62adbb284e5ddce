"""Notices of many ranks, so that what all of them share is said once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.schema.notice import Notice

MOST_ALIKE = 8
"""More ranks with the same notice than this are told together."""


def merged(notices: Sequence[Notice]) -> list[Notice]:
    """The same notices in their order; those that more than :data:`MOST_ALIKE` ranks share as one."""
    ranks: dict[str, set[int]] = {}
    for notice in notices:
        if notice.rank is not None:
            ranks.setdefault(notice.code, set()).add(notice.rank)
    shared = {code for code, found in ranks.items() if len(found) > MOST_ALIKE}
    out: list[Notice] = []
    told: set[str] = set()
    for notice in notices:
        if notice.rank is None or notice.code not in shared:
            out.append(notice)
        elif notice.code not in told:
            told.add(notice.code)
            count = sum(n.count for n in notices if n.code == notice.code and n.rank is not None)
            others = len(ranks[notice.code]) - 1
            text = f"Rank {notice.rank}: {notice.text} {others} other ranks have a notice of this kind."
            out.append(replace(notice, count=count, text=text, rank=None))
    return out
