"""Memory grows from step to step.

What it does:
    Fires when the allocator was recorded, at least five steady steps are there, and the lowest total of each step
    grows by a thousandth of the peak and by 1 MB a step or more. It names the operators that asked for the blocks of
    steady steps which nobody gave back until the window ended.

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
from stepscope.units import format_frac

if TYPE_CHECKING:
    from stepscope.advice.base import Context
    from stepscope.analysis.memory import Holder, Memory

LEAST_STEPS = 5
"""A slope through fewer points may be chance."""

MOST_NAMED = 3
"""So many operators are named, those that hold most."""

NAMED_FRAC = 0.1
"""An operator that holds less of the growth is not named."""

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
                *(
                    Evidence(
                        name=f"what stays of {one.operator or 'code outside of operators'} a step",
                        value=one.bytes_per_step,
                        unit="bytes",
                    )
                    for one in _named(memory, growth)
                ),
            ),
            action=f"{_who(memory, growth)} Look for tensors that outlive their step: a sum of losses with their "
            "graphs, outputs kept in a list, hooks that store activations.",
            snippet=SNIPPET,
            confidence="medium",
        )
    return None


def _named(memory: Memory, growth: float) -> tuple[Holder, ...]:
    """Who holds enough of the growth to be named."""
    held = memory.holders or ()
    return tuple(one for one in held if one.bytes_per_step >= NAMED_FRAC * growth)[:MOST_NAMED]


def _who(memory: Memory, growth: float) -> str:
    """Who asked for the memory that stays, or what would tell."""
    if memory.holders is None:
        return (
            "Who holds the memory is not in this trace, whose events give no addresses: a window of "
            "stepscope profile --detail does."
        )
    named = _named(memory, growth)
    if not named:
        return "No operator asked for much of what stays: it was taken before these steps, or outside of the window."
    most = named[0]
    share = min(most.bytes_per_step / growth, 1.0)
    who = most.operator or "code outside of operators"
    return (
        f"{format_frac(share)} of the growth was asked for by {who}: look for who keeps its result."
    )


RULE = Rule(
    "MG001",
    "memory",
    "Memory grows from step to step",
    find,
    __doc__ or "",
    explained_by=("ST001",),
)
