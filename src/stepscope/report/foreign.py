"""Foreign text: names of kernels, operators and files, made safe to show and short enough to read."""

from __future__ import annotations

import re
from typing import Final

_SUSPECT: Final = re.compile(r"[^\x20-\x7e]")


def printable(text: str) -> str:
    r"""``text`` on one line, with everything that does not print written as an escape.

    Control characters could drive a terminal, marks of direction could make a name read as another,
    and lone surrogates cannot be written to a file at all; they all become ``\x1b`` or ``\u202e``.
    """
    return _SUSPECT.sub(_escape, text)


def printable_lines(text: str) -> str:
    """As :func:`printable`, but line breaks stay and tabs become four spaces."""
    return "\n".join(printable(line.replace("\t", "    ")) for line in text.split("\n"))


def shorten(text: str, width: int, ellipsis: str = "…") -> str:
    """``text`` in at most ``width`` characters; what is left out is in the middle."""
    if len(text) <= width:
        return text
    keep = max(width - len(ellipsis), 0)
    tail = keep // 3
    return f"{text[: keep - tail]}{ellipsis}{text[len(text) - tail :] if tail else ''}"


def essential(name: str) -> str:
    """A kernel's or operator's name without the words that all names of its kind share.

    Only narrow tables use it: ``void at::native::(anonymous namespace)::f<at::Half>(int)`` reads
    ``f<Half>(int)``.
    """
    name = name.removeprefix("void ")
    for word in ("at::native::", "(anonymous namespace)::", "at::detail::", "at::cuda::"):
        name = name.replace(word, "")
    return name.replace("<at::", "<").replace(", at::", ", ")


def _escape(match: re.Match[str]) -> str:
    """A character that prints as itself, any other as an escape."""
    character = match[0]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
