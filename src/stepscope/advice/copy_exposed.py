"""Copies keep the device from computing.

What it does:
    Fires when the device does nothing but copy or set memory for 15 % of the steady step or
    more.

Why it costs:
    Copies and kernels can run at the same time, but here they take turns.

Example:
    Activations are offloaded to the host and fetched back on the stream that computes.

What to try:
    Copy on a stream of its own and one batch ahead, copy less, or leave the data on the device.

When this is wrong:
    When the model does not fit and what is copied is exactly what has to be.

References:
    https://pytorch.org/docs/stable/notes/cuda.html#cuda-streams
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context
    from stepscope.schema.report import Gain

LEAST_SHARE = 0.15
"""Hiding copies takes work on the program, which a smaller share does not repay."""

SNIPPET = """\
with torch.cuda.stream(copy_stream):
    following = following.to(device, non_blocking=True)   # one batch ahead
torch.cuda.current_stream().wait_stream(copy_stream)"""


def find(context: Context) -> Finding | None:
    """Rests on the part "copy" of the partition."""
    share = context.share("copy")
    if share is None or share < LEAST_SHARE:
        return None
    rows = context.results.copies
    most = max(rows, key=lambda row: row.exposed_ns) if rows else None
    largest = (
        (
            Evidence(
                name="most of it", value=f"{most.direction}, {most.count} in the file", unit="text"
            ),
            Evidence(
                name=f"bandwidth of the {most.direction} copies",
                value=most.bandwidth_gb_s,
                unit="GB/s",
            ),
        )
        if most
        else ()
    )
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(*context.part_evidence("copy", "copies with no kernel running"), *largest),
        action="Start copies early, on a stream of their own, so that they run beside the kernels of the step before; "
        "or copy less: smaller types, fewer tensors, tensors that stay on the device.",
        snippet=SNIPPET,
        confidence="medium",
        share_frac=share,
    )


def _gain(context: Context) -> Gain | None:
    """Only copies to the device are replayed."""
    most = max(context.results.copies, key=lambda row: row.exposed_ns, default=None)
    return context.gains.overlap if most is not None and most.direction == "HtoD" else None


RULE = Rule(
    "CP002",
    "copy",
    "Copies keep the device from computing",
    find,
    __doc__ or "",
    explained_by=("CP001",),
    gain=_gain,
)
