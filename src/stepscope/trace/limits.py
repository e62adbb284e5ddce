"""Documented limits against hostile or hopeless files; crossing one is a clear error, never a full machine."""

from __future__ import annotations

CHUNK_BYTES = 8 * 2**20
"""Text decoded at a time."""

HEADER_BYTES = 256 * 2**20
"""Longest text before or after the list of events."""

EVENT_BYTES = 64 * 2**20
"""Longest single event."""

TEXT_BYTES = 64 * 2**30
"""Longest decompressed text of one file."""

EXPANSION = 1100
"""Highest ratio of decompressed to compressed size; gzip cannot exceed about 1032."""

NAME_CHARACTERS = 65_536
"""Longer names are cut, with a notice."""
