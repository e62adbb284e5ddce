"""How text may look where it goes: width, signs and colours that the receiver can show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from stepscope.report.foreign import printable, shorten

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

GLUE: Final = "\ue000"
"""Stands for a blank at which no line may break; foreign text cannot hold it, see ``printable``."""
_UNIT: Final = re.compile(r"(?<=[0-9]) (?=(?:%|ns|µs|us|ms|s|min|h|B|[kMGT]B(?:/s)?)(?![A-Za-z]))")
_PLAIN: Final = str.maketrans({"µ": "u", "…": "..."})
LABEL_WIDTH: Final = 12
"""Columns of the labels at the left of a section's lines."""


class Look(Struct, frozen=True):
    """What the receiver of the text can show.

    Attributes:
        width: Columns.
        is_rich: Whether it is a terminal, so that solid bars may be drawn; a log gets ``#``.
        is_ascii: Whether it takes nothing but ASCII.
    """

    width: int
    is_rich: bool
    is_ascii: bool

    @classmethod
    def of(cls, console: Console) -> Look:
        """What a console can show."""
        is_ascii = not console.encoding.lower().startswith("utf")
        return cls(console.width, console.is_terminal and not is_ascii, is_ascii)

    def say(self, text: str, style: str = "") -> Text:
        """Foreign or own text as one styled piece; never read as markup, never a control character."""
        return Text(_UNIT.sub(GLUE, self.plain(text)), style=style, overflow="fold")

    def plain(self, text: str) -> str:
        """``text`` in characters that the receiver can show."""
        text = printable(text)
        if not self.is_ascii:
            return text
        return text.translate(_PLAIN).encode("ascii", "backslashreplace").decode("ascii")

    def cut(self, text: str, width: int) -> str:
        """``text`` in at most ``width`` characters, shortened in its middle."""
        return shorten(self.plain(text), width, "..." if self.is_ascii else "…")

    def bar(self, frac: float, width: int) -> str:
        """A bar of ``frac`` of ``width`` columns; whatever is above zero shows at least one."""
        cells = min(max(round(frac * width), 1 if frac > 0 else 0), width)
        return ("█" if self.is_rich else "#") * cells


def labelled(look: Look, rows: list[tuple[str, Text]]) -> RenderableType:
    """Lines with a label at their left; what follows a label wraps beside it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=LABEL_WIDTH, no_wrap=True, style="bold")
    table.add_column(overflow="fold", ratio=1)
    for label, text in rows:
        table.add_row(look.say(label), text)
    return table


def indented(content: RenderableType, columns: int) -> Padding:
    """``content`` moved to the right."""
    return Padding(content, (0, 0, 0, columns))
