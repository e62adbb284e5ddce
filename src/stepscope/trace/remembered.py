"""What was worked out about a table once, kept for as long as the table lives.

Tables are never changed in place, so that an answer about one stays right. It is kept beside the table
and not in it, so that tables can be pickled and compared as before.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import polars as pl

    from stepscope.trace.model import Trace

T = TypeVar("T")

_KEPT: dict[int, dict[Hashable, Any]] = {}
"""Answers by question, by the address of the table; gone with the table."""


def remembered(frame: pl.DataFrame, question: Hashable, answer: Callable[[], T]) -> T:
    """The answer to a question about a table; nobody may change it.

    Args:
        frame: The table.
        question: What is asked.
        answer: Works it out, the first time.
    """
    kept = _of(frame)
    if question not in kept:
        kept[question] = answer()
    found: T = kept[question]
    return found


def remembered_of(trace: Trace, question: str, answer: Callable[[], T]) -> T:
    """The answer to a question about the host, the device and the windows of a trace together.

    Args:
        trace: The trace.
        question: What is asked.
        answer: Works it out, the first time.
    """
    kept, key = _of(trace.host), (question, trace.windows)
    # The same host may stand beside another device table, of a part of the trace.
    if key not in kept or kept[key][0]() is not trace.device:
        kept[key] = weakref.ref(trace.device), answer()
    value: T = kept[key][1]
    return value


def _of(frame: pl.DataFrame) -> dict[Hashable, Any]:
    kept = _KEPT.get(id(frame))
    if kept is None:
        kept = _KEPT[id(frame)] = {}
        weakref.finalize(frame, _KEPT.pop, id(frame), None).atexit = False
    return kept
