"""Copies from pageable memory hold up the step.

What it does:
    Fires when a twentieth of the steady step or more goes to copies between host and device
    from or to pageable memory, with no kernel running meanwhile.

Why it costs:
    The driver first copies pageable memory into a pinned buffer, at a fraction of the link's
    speed, and the host cannot go on meanwhile, whatever ``non_blocking`` says.

Example:
    Batches of 38 MB take 10 ms each at 3.7 GB/s where the link carries 12 GB/s.

What to try:
    ``pin_memory=True`` in the DataLoader and ``non_blocking=True`` in ``.to()``; keep results
    on the device.

When this is wrong:
    When the memory cannot be pinned, for instance because host memory is scarce.

References:
    https://pytorch.org/docs/stable/notes/cuda.html#use-pinned-memory-buffers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context
    from stepscope.analysis.copies import Copies
    from stepscope.schema.report import Gain

LEAST_SHARE = 0.05
"""The cure is two words of code, so that a twentieth of the step is worth it."""

SNIPPET = """\
loader = DataLoader(dataset, ..., pin_memory=True)
inputs = inputs.to(device, non_blocking=True)"""


def find(context: Context) -> Finding | None:
    """Rests on the kind of memory that the profiler recorded with each copy."""
    if context.share("copy") is None:
        return None
    rows = _pageable(context)
    share = context.share_of(sum(row.exposed_ns for row in rows))
    if share is None or share < LEAST_SHARE:
        return None
    most = max(rows, key=lambda row: row.exposed_ns)
    exposed = sum(row.exposed_ns for row in rows)
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            Evidence(
                name=f"pageable copies with no kernel running, share {context.where}",
                value=share,
                unit="frac",
            ),
            Evidence(name=f"the same {context.each}", value=context.ms_each(exposed), unit="ms"),
            Evidence(
                name="pageable copies in the file",
                value=sum(row.count for row in rows),
                unit="count",
            ),
            Evidence(
                name=f"bandwidth of the {most.direction} copies",
                value=most.bandwidth_gb_s,
                unit="GB/s",
            ),
        ),
        action="Pin the host's side of the copies, so that they run at the link's speed and beside the kernels."
        if most.direction == "HtoD"
        else "Keep results on the device and copy them less often; where they must be copied, copy into a pinned "
        "tensor that is made once.",
        snippet=SNIPPET if most.direction == "HtoD" else "",
        confidence="high",
        share_frac=share,
    )


def _pageable(context: Context) -> list[Copies]:
    return [row for row in context.results.copies if row.memory == "pageable"]


def _gain(context: Context) -> Gain | None:
    """Only copies to the device are replayed."""
    most = max(_pageable(context), key=lambda row: row.exposed_ns)
    return context.gains.copy if most.direction == "HtoD" else None


RULE = Rule(
    "CP001", "copy", "Copies from pageable memory hold up the step", find, __doc__ or "", gain=_gain
)
