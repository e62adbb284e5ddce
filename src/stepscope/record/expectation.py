"""What is known of a window before it opens."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expectation:
    """A window to come.

    Attributes:
        ns: How long it will be open, about.
        wanted_steps: Steps that it would have without a budget for its trace.
        size_bytes: What its trace will take on disk, by an earlier one; ``None`` while none is written.
    """

    ns: float = 0.0
    wanted_steps: int = 0
    size_bytes: int | None = None
