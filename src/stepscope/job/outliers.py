"""Ranks that stand out by a part of their step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepscope.schema.job_report import OutlierRow
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.job.digest import RankDigest

MADS = 5.0
"""Distance from the median over ranks, in scaled median absolute deviations."""

LEAST_SHARE = 0.05
"""A part in which a rank differs by less than this share of the step is no outlier, however even the others are."""

MOST = 10


def outliers(ranks: Sequence[RankDigest]) -> tuple[OutlierRow, ...]:
    """Ranks with far more of a part than the median; none below three ranks, where a median says little."""
    parts = ranks[0].results.partition.parts
    alike = [one for one in ranks if one.results.partition.parts == parts]
    if len(alike) < 3 or len(alike) < len(ranks):
        return ()
    means = np.array([_mean(one) for one in alike])
    median = np.median(means, axis=0)
    # 1.4826 makes the median absolute deviation of a normal distribution its standard deviation.
    limit = np.maximum(
        MADS * 1.4826 * np.median(np.abs(means - median), axis=0), LEAST_SHARE * median.sum()
    )
    excess = means - median
    rows, columns = np.nonzero(excess > limit)
    order = np.argsort(-excess[rows, columns], kind="stable")[:MOST]
    return tuple(
        OutlierRow(
            rank=alike[row].rank or 0,
            part=parts[column],
            ms=ns_to_ms(float(means[row, column])),
            median_ms=ns_to_ms(float(median[column])),
        )
        for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True)
    )


def _mean(one: RankDigest) -> list[float]:
    partition = one.results.partition
    steady = partition.is_steady
    mean: list[float] = (
        (partition.ns[steady] if steady.any() else partition.ns).mean(axis=0).tolist()
    )
    return mean
