"""Kernels are small, and the device's memory has room for a larger batch.

What it does:
    Fires when at most half of the device's memory was in use at its peak, by the allocator's events in the trace or
    by the samples of the run, and kernels are too small: the device waits for launches of kernels that are shorter
    than the time between them, for a fifth of the steady step or more; or kernels run for 70 % of it and fill less
    than 30 % of the multiprocessors.

Why it costs:
    A larger batch gives each kernel more to do, for the same launches, the same Python and the same messages.

Example:
    Batch 16 on a device of 80 GB of which 9 GB are used, where a step takes as long as with batch 2.

What to try:
    Twice the batch at a time, as long as samples a second grow; scale the learning rate with it, or keep the batch
    of the optimizer by fewer steps of gradient accumulation.

When this is wrong:
    When convergence suffers from larger batches; in inference, where the batch is what is asked for; when memory is
    needed in another phase that was not recorded.

References:
    https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html,
    https://arxiv.org/abs/1811.03600
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.advice import gpu_not_filled, launch_bound
from stepscope.advice.base import Rule
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

MOST_USED = 0.5
"""With more in use, twice the batch may not fit."""

KEPT_FREE = 0.9
"""A tenth of the memory stays free for what changes from step to step."""

MANY_TIMES = 99
"""Beyond that the exact number says nothing."""

SNIPPET = """\
loader = DataLoader(dataset, batch_size=2 * batch_size)
# stepscope tune --vary "--batch-size=32,64,128" train.py     measures how the step grows"""


class _Memory(Struct, frozen=True):
    """Memory of the device that is fullest, and who says so."""

    used_bytes: int
    all_bytes: int
    source: str


def find(context: Context) -> Finding | None:
    """Rests on the peak of the memory, and on what the rules about small kernels rest on."""
    memory = _memory(context)
    if memory is None or memory.used_bytes > MOST_USED * memory.all_bytes:
        return None
    small = launch_bound.find(context) or gpu_not_filled.find(context)
    if small is None:
        return None
    times = KEPT_FREE * memory.all_bytes / max(memory.used_bytes, 1)
    room = f"{times:.1f}" if times < MANY_TIMES else f"more than {MANY_TIMES}"
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity="low",
        title=RULE.title,
        evidence=(
            Evidence(
                name="peak of the memory in use, share of the device's",
                value=memory.used_bytes / memory.all_bytes,
                unit="frac",
            ),
            Evidence(name="peak of the memory in use", value=memory.used_bytes, unit="bytes"),
            Evidence(name="memory of the device", value=memory.all_bytes, unit="bytes"),
            Evidence(name="known from", value=memory.source, unit="text"),
            Evidence(name="kernels are small by", value=small.code, unit="text"),
        ),
        action=f"Double the batch while samples a second grow: {room} times the memory would still fit, and "
        "weights do not grow with it. How much longer a step of more samples takes no trace of one size tells, so "
        "that the gain is not predicted; stepscope tune --vary measures it.",
        snippet=SNIPPET,
        confidence="low",
    )


def _memory(context: Context) -> _Memory | None:
    """From the allocator's events where they were recorded, else from the samples of the run."""
    recorded = [
        _Memory(max(row.reserved_bytes or 0, row.allocated_bytes), row.capacity_bytes, "the trace")
        for row in context.results.memory
        if row.capacity_bytes
    ]
    run = context.run
    if not recorded and run is not None and run.device_used_bytes and run.device_bytes:
        recorded = [_Memory(run.device_used_bytes, run.device_bytes, "samples of the run")]
    return max(recorded, key=lambda one: one.used_bytes / one.all_bytes, default=None)


RULE = Rule(
    "BS001",
    "memory",
    "Memory has room for a larger batch",
    find,
    __doc__ or "",
    explained_by=("ST001", "REC004", "IN001", "IN002"),
)
