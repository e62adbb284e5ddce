"""Numbers of a trace as text to exact integers, a column at a time.

Times are microseconds with up to three decimals. A 64-bit float cannot hold those of 2024 (decimal
microseconds since 1970) to the nanosecond, so the text itself is read.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Raw

PLAIN = r"^-?\d{1,16}(\.\d{1,3})?$"
LARGEST_NS = 2**62


def nanoseconds(texts: Sequence[Raw | bytes]) -> pl.Series:
    """JSON numbers in microseconds to nanoseconds.

    Args:
        texts: One JSON value per event as written in the file; empty where the key is missing.

    Returns:
        Int64 column of the same length; null where the value is missing or not a finite number.
        More than three decimals are rounded half to even.
    """
    if not texts:
        return pl.Series("ns", [], dtype=pl.Int64)
    joined = b"\n".join(texts).decode("utf-8", "replace")
    column = pl.Series("text", joined.split("\n"), dtype=pl.String)
    if len(column) != len(texts):
        column = pl.Series(
            "text", [bytes(t).decode("utf-8", "replace") for t in texts], dtype=pl.String
        )
    return _parse(column)


def _parse(column: pl.Series) -> pl.Series:
    frame = column.to_frame("text").with_columns(pl.col("text").str.contains(PLAIN).alias("plain"))
    whole = pl.col("parts").struct.field("field_0")
    decimals = pl.col("parts").struct.field("field_1").fill_null("").str.pad_end(3, "0")
    negative = whole.str.starts_with("-")
    frame = frame.with_columns(
        pl.when("plain").then(pl.col("text")).str.splitn(".", 2).alias("parts")
    ).select(
        "text",
        "plain",
        (
            whole.cast(pl.Int64, strict=False) * 1000
            + pl.when(negative).then(-1).otherwise(1) * decimals.cast(pl.Int64, strict=False)
        ).alias("ns"),
    )
    if frame["plain"].all():
        return frame["ns"]
    odd = frame["text"].filter(~frame["plain"].fill_null(value=False)).unique()
    known = {text: _one(text) for text in odd.to_list()}
    replaced = frame["text"].replace_strict(
        list(known), list(known.values()), default=None, return_dtype=pl.Int64
    )
    return frame.select(pl.when("plain").then(pl.col("ns")).otherwise(replaced).alias("ns"))["ns"]


def _one(text: str | None) -> int | None:
    """A number that is not plain decimal: quoted, with exponent, with many decimals."""
    if not text or len(text) > 64:
        return None
    try:
        value = Decimal(text.strip().strip('"').strip())
    except InvalidOperation:
        return None
    if not value.is_finite() or abs(value) > LARGEST_NS // 1000:
        return None
    return int((value * 1000).to_integral_value())


def integers(values: Sequence[int | float | str | None]) -> pl.Series:
    """Whole numbers written as int, float or text; null for anything else, ``"N/A"`` and ``"inf"`` too."""
    return pl.Series("int", [_integer(v) for v in values], dtype=pl.Int64)


def floats(values: Sequence[int | float | str | None]) -> pl.Series:
    """Finite numbers written as int, float or text; null for anything else."""
    return pl.Series("float", [_float(v) for v in values], dtype=pl.Float64)


def _integer(value: int | float | str | None) -> int | None:
    if type(value) is int:
        return value if -(2**63) <= value < 2**63 else None
    number = _float(value)
    return int(number) if number is not None and abs(number) < 2**63 else None


def _float(value: int | float | str | None) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if number - number == 0 else None
