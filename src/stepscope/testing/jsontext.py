"""JSON text with exact control over numbers, blanks and the order of keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stepscope.testing.form import KeyOrder


class Literally(str):
    """Text that is put into the JSON as it is: a number whose digits matter."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Style:
    """How JSON is spelt.

    Attributes:
        comma, colon: The separators with their blanks.
        indent: Blanks a level; ``None`` for everything on one line.
        key_order: See ``form.KeyOrder``.
    """

    comma: str = ", "
    colon: str = ": "
    indent: int | None = None
    key_order: KeyOrder = "written"

    def dump(self, value: object, level: int = 0) -> str:
        """The JSON text of a value made of mappings, lists, tuples, text, numbers, booleans and None."""
        if isinstance(value, Literally):
            return str(value)
        if isinstance(value, dict):
            return self._around("{}", self.fields(value, level + 1), level)
        if isinstance(value, (list, tuple)):
            return self._around("[]", (self.dump(item, level + 1) for item in value), level)
        return json.dumps(value)

    def fields(self, value: Mapping[str, object], level: int = 0) -> list[str]:
        """The text of each key and its value, in order."""
        keys = list(value)
        if self.key_order == "sorted":
            keys.sort()
        elif self.key_order == "reversed":
            keys.reverse()
        return [f"{json.dumps(key)}{self.colon}{self.dump(value[key], level)}" for key in keys]

    def _around(self, brackets: str, items: Iterable[str], level: int) -> str:
        texts = list(items)
        if self.indent is None or not texts:
            return brackets[0] + self.comma.join(texts) + brackets[1]
        inner = "\n" + " " * self.indent * (level + 1)
        outer = "\n" + " " * self.indent * level
        return brackets[0] + inner + f",{inner}".join(texts) + outer + brackets[1]
