"""Numbers of a trace to exact integers, a column at a time.

Times are microseconds with up to three decimals. A 64-bit float holds them to the nanosecond below
2**43 microseconds (times relative to a base); those of 2024 (decimal microseconds since 1970) are
beyond it, and then the text itself is read.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stepscope.trace.events import ABSENT, Number, Scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Raw

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

EXACT_BELOW_US = 2.0**43
"""Half the distance of neighbouring floats stays below half a nanosecond up to here."""

FARTHEST_US = 2**61 // 1000
"""Microseconds whose nanoseconds, with a base added, a 64-bit number holds."""
LONGEST_TEXT = 64
MOST_DIGITS = 16
ZERO, POINT, MINUS = 48, 46, 45


def from_numbers(values: Sequence[Number]) -> Ints | None:
    """Microseconds as numbers to nanoseconds.

    Returns:
        Shape ``(len(values),)``; None when a value is missing or a float may have lost a nanosecond, so
        that the text has to be read.
    """
    if not values:
        return np.empty(0, np.int64)
    try:
        array = np.fromiter(values, np.float64, len(values))
        is_exact = bool((np.abs(array) < EXACT_BELOW_US).all())
        if not is_exact:
            wholes_only = np.array(values)
            if wholes_only.dtype != np.int64:
                return None
            is_near = wholes_only.max() <= FARTHEST_US and wholes_only.min() >= -FARTHEST_US
            return wholes_only * 1000 if is_near else None
    except (TypeError, OverflowError):
        return None
    whole = np.floor(array)
    nanoseconds: Ints = whole.astype(np.int64) * 1000
    nanoseconds += np.rint((array - whole) * 1000).astype(np.int64)
    return nanoseconds


def from_texts(texts: Sequence[Raw | bytes], missing: int = ABSENT) -> Ints:
    """Microseconds as JSON text to nanoseconds.

    Args:
        texts: One JSON value per event as written in the file; empty where the key is missing.
        missing: What stands where the key is missing.

    Returns:
        Shape ``(len(texts),)``; ABSENT where the value is not a finite number within 73 years of 0. More
        than three decimals are rounded half to even.
    """
    count = len(texts)
    if not count:
        return np.empty(0, np.int64)
    plain = [bytes(text) for text in texts]
    lengths = np.fromiter(map(len, plain), np.int64, count)
    width = min(int(lengths.max()), LONGEST_TEXT) or 1
    grid = np.array(plain, dtype=f"S{width}").view(np.uint8).reshape(count, width)
    nanoseconds, is_read = _three_decimals(grid, lengths)
    left = np.flatnonzero(~is_read)
    if len(left):
        nanoseconds[left], is_read[left] = _plain_decimals(grid[left])
    for position in np.flatnonzero(~is_read).tolist():
        text = plain[position]
        value = _one(text) if text else missing
        nanoseconds[position] = ABSENT if value is None else value
    return nanoseconds


def _three_decimals(
    grid: npt.NDArray[np.uint8], lengths: Ints
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Rows as kineto writes them, digits with exactly three decimals; which rows are so.

    Rows of the same length are read at once, as a matrix of digits times powers of ten.
    """
    nanoseconds, is_read = np.zeros(len(grid), np.int64), np.zeros(len(grid), np.bool_)
    for length in np.unique(lengths).tolist():
        point = length - 4
        if not 0 < point <= MOST_DIGITS:
            continue
        rows = np.flatnonzero(lengths == length)
        digits = np.delete(grid[rows, :length], point, axis=1) - np.uint8(ZERO)
        is_so = (grid[rows, point] == POINT) & (digits <= 9).all(axis=1)
        if point == MOST_DIGITS:
            is_so &= digits[:, 0] <= 1  # more would not fit
        value = digits.astype(np.int64) @ 10 ** np.arange(length - 2, -1, -1, dtype=np.int64)
        nanoseconds[rows[is_so]] = value[is_so]
        is_read[rows[is_so]] = True
    return nanoseconds, is_read


def _plain_decimals(grid: npt.NDArray[np.uint8]) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Rows that are an optional minus, up to 16 digits and up to three decimals; which rows are so.

    Args:
        grid: Characters, shape (rows, width), zeros behind the end of a text.
    """
    whole, part = np.zeros(len(grid), np.int64), np.zeros(len(grid), np.int64)
    digits, decimals = np.zeros(len(grid), np.int64), np.zeros(len(grid), np.int64)
    behind = np.zeros(len(grid), np.bool_)
    is_plain = np.ones(len(grid), np.bool_)
    negative = grid[:, 0] == MINUS
    for column, characters in enumerate(grid.T):
        digit = characters.astype(np.int64) - ZERO
        is_digit = (digit >= 0) & (digit <= 9)
        before = is_digit & ~behind & (digits < MOST_DIGITS)
        after = is_digit & behind & (decimals < 3)
        point = (characters == POINT) & ~behind & (digits > 0)
        whole = np.where(before, whole * 10 + digit, whole)
        part = np.where(after, part * 10 + digit, part)
        digits += before
        decimals += after
        behind |= point
        sign = negative if column == 0 else False
        is_plain &= before | after | point | (characters == 0) | sign
    is_plain &= (digits > 0) & (whole < FARTHEST_US)
    value = np.where(is_plain, whole, 0) * 1000 + part * 10 ** (3 - decimals)
    return np.where(negative, -value, value), is_plain


def _one(text: bytes) -> int | None:
    """A number that is not plain decimal: quoted, with exponent, with many decimals."""
    if len(text) > LONGEST_TEXT:
        return None
    try:
        value = Decimal(text.decode("ascii", "replace").strip().strip('"').strip())
    except InvalidOperation:
        return None
    if not value.is_finite() or abs(value) > FARTHEST_US:
        return None
    return int((value * 1000).to_integral_value())


def wholes(values: Sequence[Scalar]) -> Ints:
    """Whole numbers written as int, float or text; ABSENT for anything else, ``"N/A"`` and ``"inf"`` too."""
    try:
        return np.fromiter(values, np.int64, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.fromiter(map(_whole, values), np.int64, len(values))


def floats(values: Sequence[Scalar]) -> Floats:
    """Finite numbers written as int, float or text; NaN for anything else."""
    try:
        found = np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.fromiter(map(_float, values), np.float64, len(values))
    return np.where(np.isfinite(found) & (found != ABSENT), found, np.nan)


def _whole(value: Scalar) -> int:
    if type(value) is int:
        return value if -(2**63) < value < 2**63 else ABSENT
    number = _float(value)
    return int(number) if abs(number) < 2.0**63 else ABSENT


def _float(value: Scalar) -> float:
    if value is None or value == ABSENT:
        return float("nan")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return float("nan")
    return number if abs(number) < float("inf") else float("nan")
