"""What the data is like, in one sentence: part of the Report, and what a recorder notes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something about the data that a reader must know.

    Attributes:
        code: Stable word, for instance ``gpu-not-recorded``.
        count: How many events, files or steps it is about.
        text: One sentence.
        rank: The rank that it is about, ``None`` for all.
    """

    code: str
    count: int
    text: str
    rank: int | None = None
