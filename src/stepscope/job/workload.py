"""Whether a late rank has more to do than the others, or is slower at the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepscope.units import format_frac

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.analysis.results import Results
    from stepscope.job.digest import RankDigest
    from stepscope.job.result import Job
    from stepscope.trace.intervals import Floats

COMPUTING = frozenset({"compute", "forward", "backward", "optimizer"})
"""Causes for which the work itself can be compared."""

MORE_CALLS = 1.02
"""More calls than this share of the others' is more work."""

SLOWER = 1.05
"""Work that takes less than this share longer is as fast as the others'."""

LIKE_ALL = 0.6
"""Share of the work that has to be slower alike for the machine to be the reason."""


def comparison_of(ranks: Sequence[RankDigest], job: Job | None) -> str:
    """A sentence on the late rank's work against the median of the others'; ``""`` where it does not matter."""
    late = job.straggler if job is not None else None
    if late is None or not late.is_named or late.cause not in COMPUTING:
        return ""
    own = _work(ranks[late.place].results)
    others = [_work(one.results) for place, one in enumerate(ranks) if place != late.place]
    shapes = [_shapes(one.results) for one in ranks]
    rank = f"Rank {job.numbers[late.place]}" if job is not None else ""
    counts = float(np.median([sum(count for count, _ in one.values()) for one in others]))
    more = sum(count for count, _ in own.values()) / counts if counts else 1.0
    if more > MORE_CALLS:
        return (
            f"{rank} makes {format_frac(more - 1)} more calls than the others: it has more to do."
        )
    differing = shapes[late.place] is not None and any(
        one is not None and one != shapes[late.place] for one in shapes
    )
    if differing:
        return f"{rank} makes the same calls with inputs of other shapes than the others: its work is uneven."
    ratios = _ratios(own, others)
    if not len(ratios):
        return ""
    slow = float(ratios[ratios[:, 0] > SLOWER, 1].sum() / ratios[:, 1].sum())
    middle = float(np.median(ratios[:, 0]))
    if slow < LIKE_ALL or middle <= SLOWER:
        return f"{rank} makes the same calls as the others; some of them take longer, not all."
    same = (
        "of the same shapes"
        if shapes[late.place] is not None
        else "(whether of the same shapes was not recorded)"
    )
    return (
        f"{rank} makes the same calls {same}, and nearly all take longer, {middle:.2f} times in the median: "
        "a slower device, lower clocks or shared cores."
    )


def _work(results: Results) -> dict[str, tuple[int, float]]:
    """Calls and mean time of the device's kernels by name, without communication; of operators else."""
    kernels = [k for k in results.kernels if not k.is_communication]
    if kernels:
        return {k.name: (k.count, k.total_ns / k.count) for k in kernels if k.count}
    sums: dict[str, list[int]] = {}
    for one in results.operators:
        if one.name.startswith("aten::"):
            entry = sums.setdefault(one.name, [0, 0])
            entry[0] += one.count
            entry[1] += one.self_ns
    return {name: (count, ns / count) for name, (count, ns) in sums.items() if count}


def _shapes(results: Results) -> frozenset[tuple[str, str, int]] | None:
    """Operators with their shapes and counts; ``None`` where shapes were not recorded."""
    if not results.facts.has_shapes:
        return None
    return frozenset(
        (one.name, one.input_dims, one.count)
        for one in results.operators
        if one.input_dims is not None and one.name.startswith("aten::")
    )


def _ratios(
    own: dict[str, tuple[int, float]], others: Sequence[dict[str, tuple[int, float]]]
) -> Floats:
    """For each kind of call, its time over the median of the others', and its weight, shape ``(n, 2)``."""
    rows = []
    for name, (count, mean) in own.items():
        there = [one[name][1] for one in others if name in one]
        if there and (usual := float(np.median(there))) > 0:
            rows.append((mean / usual, count * usual))
    return np.array(rows, dtype=np.float64).reshape(-1, 2)
