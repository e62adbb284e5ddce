"""What every hook can."""

from __future__ import annotations

from typing import Protocol


class Hook(Protocol):
    """Something that listens to PyTorch."""

    def install(self) -> None:
        """Begin to listen."""

    def remove(self) -> None:
        """Stop listening, unless somebody else has wrapped it since."""
