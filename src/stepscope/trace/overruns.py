"""Device work that lasts longer than its stream allows."""

from __future__ import annotations

import polars as pl

OVERRUN_NS = 100_000
SUCCESSORS = 4


def clip(device: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Shortens work that overruns the start of its fourth successor on the stream by over 100 µs.

    Kernels of one stream overlap by microseconds for good reasons (programmatic dependent launch,
    graphs); durations of seconds across many successors are overflows of the vendor's clock.

    Args:
        device: Table DEVICE, sorted.

    Returns:
        The table with such work ending where the next begins, and how many there were.
    """
    stream = ["device", "stream"]
    later = pl.col("start_ns").shift(-SUCCESSORS).over(stream)
    following = pl.col("start_ns").shift(-1).over(stream)
    overruns = (pl.col("end_ns") - later > OVERRUN_NS).fill_null(value=False)
    count = int(device.select(overruns.sum()).item())
    if count:
        device = device.with_columns(
            pl.when(overruns).then(following).otherwise(pl.col("end_ns")).alias("end_ns")
        )
    return device, count
