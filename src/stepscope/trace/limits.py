"""Documented limits against hostile or hopeless files; crossing one is a clear error, never a full machine."""

from __future__ import annotations

PIECE_BYTES = 2**19
"""Text decoded at a time; about what the caches of a core hold together with what it becomes."""

BATCH_BYTES = 16 * 2**20
"""Text that a worker process decodes at a time."""

PARALLEL_BYTES = 96 * 2**20
"""Plain files from this size on, and compressed ones whose text is likely as long, are read by several
processes when there are several cores."""

HEADER_BYTES = 64 * 2**20
"""Longest text before or after the list of events."""

EVENT_BYTES = 16 * 2**20
"""Longest stretch of text in which no event ends."""

TEXT_BYTES = 64 * 2**30
"""Longest decompressed text of one file."""

EXPANSION = 400
"""Highest ratio of decompressed to compressed size once EXPANSION_FROM_BYTES are out; real traces reach 30."""

EXPANSION_FROM_BYTES = 256 * 2**20
"""Text below this may expand by any ratio."""

NAME_CHARACTERS = 65_536
"""Longer names are cut, with a notice."""

DISTINCT_TEXT_BYTES = 2**30
"""Longest sum of all distinct names and shapes of one file."""

ROW_BYTES = 400
"""Memory that a row takes at most while tables are made."""

FEW_ROWS = 1_000_000
"""The memory for so many rows is always there; it is asked for when there are more."""

ROWS = 200_000_000
"""Most rows of one file's tables, whatever the memory."""


def most_rows() -> int:
    """Rows for which this machine has the memory: half of what is free now."""
    import psutil  # noqa: PLC0415  (few traces are so large)

    return min(ROWS, psutil.virtual_memory().available // 2 // ROW_BYTES)
