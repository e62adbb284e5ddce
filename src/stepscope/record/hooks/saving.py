"""Hears when the script saves a checkpoint."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PLACES = (
    ("torch", "save"),
    ("torch.distributed.checkpoint", "save"),
    ("torch.distributed.checkpoint.state_dict_saver", "save"),
    ("safetensors.torch", "save_file"),
)
"""Modules and functions that write checkpoints; those that are imported later than torch are found by ``look``."""


class SavingHook:
    """Wraps the functions that save.

    Args:
        begins: Called before the outermost one saves.
        ends: Called after it.
    """

    def __init__(self, begins: Callable[[], None], ends: Callable[[], None]) -> None:
        self._begins, self._ends = begins, ends
        self._depth = 0
        self._undo: dict[tuple[str, str], Callable[[], None]] = {}

    def install(self) -> None:
        """Begin to listen."""
        self.look()

    def look(self) -> None:
        """Wrap those functions that are there by now."""
        for place in PLACES:
            module = sys.modules.get(place[0])
            if module is not None and place not in self._undo and hasattr(module, place[1]):
                self._undo[place] = self._wrap(module, place[1])

    def remove(self) -> None:
        """Stop listening, unless somebody else has wrapped it since."""
        for undo in self._undo.values():
            undo()
        self._undo.clear()

    def _wrap(self, module: Any, name: str) -> Callable[[], None]:
        original = getattr(module, name)

        @functools.wraps(original)
        def save(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            if self._depth == 1:
                self._begins()
            try:
                return original(*args, **kwargs)
            finally:
                if self._depth == 1:
                    self._ends()
                self._depth -= 1

        setattr(module, name, save)

        def undo() -> None:
            if getattr(module, name) is save:
                setattr(module, name, original)

        return undo
