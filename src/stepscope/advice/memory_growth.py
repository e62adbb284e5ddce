"""Memory grows from step to step.

What it does:
    Fires when the allocator was recorded, at least five steady steps are there, and the lowest total of each step
    grows by a thousandth of the peak and by 1 MB a step or more.

Why it costs:
    The run ends for want of memory after hours, and until then the allocator asks the driver again and again.

Example:
    ``total_loss += loss`` keeps every step's graph alive; outputs are collected in a list on the device.

What to try:
    Keep numbers, not tensors that need gradients: ``loss.detach()`` or, rarely, ``loss.item()``. A snapshot of
    the memory shows who holds it.

When this is wrong:
    In the first steps, while buffers are filled that stay as they are; with inputs that get longer.

References:
    https://pytorch.org/docs/stable/torch_cuda_memory.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_STEPS = 5
"""A slope through fewer points may be chance."""

LEAST_BYTES, LEAST_FRAC = 1_000_000, 0.001
"""Slower growth ends no run of some thousand steps."""

SNIPPET = """\
running += loss.detach()                       # not: running += loss
torch.cuda.memory._record_memory_history()     # then _dump_snapshot("memory.pickle") shows who holds it"""


def find(context: Context) -> Finding | None:
    """Rests on the allocator's totals."""
    if not context.has_steps or context.steady_count < LEAST_STEPS:
        return None
    for memory in context.results.memory:
        growth = memory.growth_bytes_per_step
        if growth is None or growth < max(LEAST_BYTES, LEAST_FRAC * memory.allocated_bytes):
            continue
        capacity = memory.capacity_bytes
        left = (capacity - memory.allocated_bytes) / growth if capacity is not None else None
        return Finding(
            code=RULE.code,
            regime=RULE.regime,
            severity="high" if left is not None and left < 10_000 else "medium",
            title=RULE.title,
            evidence=(
                Evidence(name=f"growth of {memory.device} a step", value=growth, unit="bytes"),
                Evidence(
                    name="highest total allocated", value=memory.allocated_bytes, unit="bytes"
                ),
                Evidence(name="steps until the device is full", value=left, unit="count"),
            ),
            action="Look for tensors that outlive their step: a sum of losses with their graphs, outputs kept in a "
            "list, hooks that store activations.",
            snippet=SNIPPET,
            confidence="medium",
        )
    return None


RULE = Rule(
    "MG001",
    "memory",
    "Memory grows from step to step",
    find,
    __doc__ or "",
    explained_by=("ST001",),
)
