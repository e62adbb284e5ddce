"""What rows of communication carry: the kind and the size of each message."""

from __future__ import annotations

import polars as pl

from stepscope.trace.collectives import element_bytes, kind_of


def kinds(moved: pl.DataFrame) -> pl.Series:
    """Kind of each row of the device table, by the recorded name or the kernel's."""
    names = moved.select(pl.coalesce("collective", pl.col("name").cast(pl.String))).to_series()
    known = {name: kind_of(name) for name in names.unique().to_list()}
    return pl.Series([known[name] for name in names.to_list()], dtype=pl.String)


def sizes(moved: pl.DataFrame) -> pl.Series:
    """Bytes of each row of the device table; null where they were not recorded."""
    dtypes = moved.get_column("collective_dtype")
    known = {dtype: element_bytes(dtype) for dtype in dtypes.unique().to_list()}
    each = pl.Series([known[dtype] for dtype in dtypes.to_list()], dtype=pl.Int64)
    return moved.get_column("collective_elements") * each
