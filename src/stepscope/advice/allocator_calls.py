"""The allocator asks the driver for memory in steady steps.

What it does:
    Fires when the device is idle for a twentieth of the steady step or more inside calls that
    get memory from the driver or give it back. Without steps only from a fifth of the window,
    because a window may hold the start.

Why it costs:
    PyTorch keeps memory for reuse. Calls that reach the driver take milliseconds, and freeing
    waits for the device.

Example:
    Inputs of changing length fragment the memory, so that the allocator frees and allocates in
    every step.

What to try:
    ``expandable_segments:True``, no ``torch.cuda.empty_cache()`` in the loop, inputs padded to
    few sizes.

When this is wrong:
    In the first steps, before all sizes have been seen.

References:
    https://pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.05
"""A warm allocator makes no such call at all."""

LEAST_SHARE_OF_WINDOW = 0.2
"""Windows without steps may hold the program's start."""

SNIPPET = """\
PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py"""


def find(context: Context) -> Finding | None:
    """Rests on the part "allocator" of the partition."""
    share, allocator = context.share("allocator"), context.results.allocator
    least = LEAST_SHARE if context.has_steps else LEAST_SHARE_OF_WINDOW
    if share is None or share < least:
        return None
    calls = allocator.steady_count / context.steady_count
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            *context.part_evidence("allocator", "device idle inside driver allocations"),
            Evidence(
                name=f"driver allocations and frees {context.each}", value=calls, unit="count"
            ),
            Evidence(
                name=f"time in them {context.each}",
                value=context.ms_each(allocator.steady_ns),
                unit="ms",
            ),
        ),
        action="Let the allocator keep what it has: no empty_cache() in the loop, expandable segments, and inputs "
        "padded to a few sizes.",
        snippet=SNIPPET,
        confidence="high" if context.has_steps and context.steady_count >= 3 else "low",
        share_frac=share,
    )


RULE = Rule(
    "AL001",
    "memory",
    "The allocator asks the driver in steady steps",
    find,
    __doc__ or "",
    explained_by=("ST001", "REC004"),
    gain=lambda context: context.gains.allocator,
)
