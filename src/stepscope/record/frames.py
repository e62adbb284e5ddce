"""Tells the user's own code from that of installed packages, of Python and of stepscope."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType

OWN = str(Path(__file__).resolve().parent.parent)
"""Where stepscope's code lies."""

_INSTALLED = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)


def is_users(file: str) -> bool:
    """Whether code of that file is the user's own."""
    return not (file.startswith((*_INSTALLED, "<frozen")) or "-packages" in file)


def is_plumbing(file: str, module: str) -> bool:
    """Whether code only carries the user's program, or is PyTorch's or Python's own."""
    is_python = not (is_users(file) or "-packages" in file)
    return is_python or module.partition(".")[0] == "torch"


def name_of(code: CodeType) -> str:
    """A function's name with its class, where Python keeps that."""
    return str(getattr(code, "co_qualname", code.co_name))
