"""The compiled core of the reader, where the installation could build it.

Of text it gives back what it does not take, and ``trace.decoding`` reads that in Python. Where there is no core,
that is everything; the tables are equal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct

from stepscope.schema.tables import HOST_KINDS
from stepscope.trace.categories import DEVICE_KIND, HOST_KIND, NOT_WORK, PYTHON
from stepscope.trace.columns import MEMORY, Packed
from stepscope.trace.extract import CALLS, DEVICE_CODE, HOST_CODE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from stepscope.trace.numbers import Ints
    from stepscope.trace.rows import Column

core: ModuleType | None
try:
    core = import_module("stepscope.trace._core")
except ImportError:
    core = None

HOST_TABLE, DEVICE_TABLE, MEMORY_TABLE, SPAN_TABLE, _, PYTHON_TABLE, NO_TABLE = range(7)
"""Places in ``columns.TABLES``, and the numbers behind them by which the core knows what no table holds."""

CATEGORIES = (
    *((text, HOST_TABLE, HOST_CODE[kind], kind in CALLS) for text, kind in HOST_KIND.items()),
    *((text, DEVICE_TABLE, DEVICE_CODE[kind], False) for text, kind in DEVICE_KIND.items()),
    (MEMORY, MEMORY_TABLE, 0, False),
    ("trace", SPAN_TABLE, 0, False),
    (PYTHON, PYTHON_TABLE, HOST_KINDS.index("python"), False),
    *((text, NO_TABLE, 0, False) for text in sorted(NOT_WORK - {"trace"})),
)

TYPES: dict[str, type[np.generic]] = {
    "kind": np.int8,
    "is_open": np.bool_,
    "is_start": np.bool_,
    **dict.fromkeys(("blocks_per_sm", "warps_per_sm", "occupancy_percent"), np.float64),
    **dict.fromkeys(("collective", "collective_dtype", "group_name", "name"), np.int32),
    **dict.fromkeys(("input_dims", "input_types"), np.int32),
}
"""Types of columns that are not whole numbers of 64 bits."""


class Piece(Struct, frozen=True):
    """What the core made of a piece.

    Attributes:
        columns: Its columns.
        count: Entries of the list.
        length: Bytes of the list, those brackets included that the text has; text behind was not looked at.
    """

    columns: Packed
    count: int
    length: int


def decode(text: bytes, *, with_python: bool, is_inside: bool = False) -> Piece | None:
    """A JSON array of events as columns.

    Args:
        text: What starts with ``[``.
        with_python: Whether Python frames are wanted.
        is_inside: The text starts at an event behind the ``[``, and may end behind one.

    Returns:
        None when there is no core, or when the text holds anything but what PyTorch writes when nothing is wrong.
    """
    if core is None:
        return None
    found = core.decode(text, CATEGORIES, with_python, is_inside)
    if found is None:
        return None
    length, count, complete, python, rank, names, shapes, tables = found
    columns = Packed(
        rows=tuple(map(_columns, tables)),
        names=[_text(name) for name in names],
        shapes=shapes,
        cut=set(),
        complete=complete,
        python=python,
        unknown={},
        rank=rank if rank >= 0 else None,
    )
    return Piece(columns, count, length)


def nest(thread: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """As ``nesting.nest``, by the core, which must be there."""
    assert core is not None
    columns = [np.ascontiguousarray(column, np.int64).tobytes() for column in (thread, start, end)]
    made = core.nest(int(thread.max()) + 1, *columns)
    depth, parent, own = (np.frombuffer(column, np.int64) for column in made)
    return depth, parent, own


def _columns(table: dict[str, bytearray]) -> dict[str, Column]:
    return {
        name: np.frombuffer(values, TYPES.get(name, np.int64)) for name, values in table.items()
    }


_string: Callable[[bytes], str] = msgspec.json.Decoder(str).decode


def _text(name: Any) -> str:  # noqa: ANN401  (a text, or its JSON when that holds escapes)
    return name if isinstance(name, str) else _string(name)
