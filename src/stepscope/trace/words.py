"""Dictionary of distinct texts: a column of names becomes a column of small numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stepscope.errors import LimitError
from stepscope.trace import limits

if TYPE_CHECKING:
    from collections.abc import Sequence

Codes = npt.NDArray[np.int32]


class Words(dict[str, int]):
    """Numbers texts in the order in which they first come.

    Longer ones than ``limits.NAME_CHARACTERS`` are cut.

    Attributes:
        characters: Length of all distinct texts together.
        cut: Codes of the texts that were cut.
    """

    __slots__ = ("characters", "cut")

    def __init__(self) -> None:
        super().__init__()
        self.characters = 0
        self.cut: set[int] = set()

    def __missing__(self, text: str) -> int:
        if len(text) > limits.NAME_CHARACTERS:
            code = self[text[: limits.NAME_CHARACTERS]]
            self.cut.add(code)
            return code
        self.characters += len(text)
        if self.characters > limits.DISTINCT_TEXT_BYTES:
            raise LimitError(
                f"its distinct names are longer than {limits.DISTINCT_TEXT_BYTES >> 20} MiB together"
            )
        code = self[text] = len(self)
        return code

    def codes(self, texts: Sequence[str]) -> Codes:
        """The number of each text, shape ``(len(texts),)``."""
        return np.fromiter(map(self.__getitem__, texts), np.int32, len(texts))
