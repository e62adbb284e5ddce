"""The GPU side was not recorded.

What it does:
    Fires when work was launched to a device but no device work is in the trace.

Why it costs:
    Nothing in itself, but without the device's side no statement about idle time, kernels or
    communication is possible: launches without kernels are not idle time.

Example:
    A trace with thousands of ``cudaLaunchKernel`` calls and not one event of category
    ``kernel``.

What to try:
    Ask for CUDA activity, detach other profilers (Nsight, DCGM profiling metrics), and allow
    access to the GPU's counters (``NVreg_RestrictProfilingToAdminUsers=0``).

When this is wrong:
    When all kernels were captured into a graph inside the window and none was replayed.

References:
    https://github.com/pytorch/pytorch/issues/99615, https://github.com/NVIDIA/DCGM/issues/56
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

SNIPPET = """\
with torch.profiler.profile(
    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],  # both
) as prof:"""


def find(context: Context) -> Finding | None:
    """Rests on what the reader found out about the device's side."""
    facts = context.results.facts
    if facts.gpu_recorded is not False:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity="high",
        title=RULE.title,
        evidence=(
            Evidence(name="calls into the device's runtime", value=facts.call_count, unit="count"),
            Evidence(name="kernels recorded", value=context.results.gpu.kernel_count, unit="count"),
        ),
        action="Record again with CUDA activity switched on and no other GPU profiler attached (Nsight, DCGM); "
        "in a container or on a cluster, ask for access to the GPU's performance counters.",
        snippet=SNIPPET,
        confidence="high",
    )


RULE = Rule(
    "REC001",
    "not-recorded",
    "The GPU side was not recorded",
    find,
    __doc__ or "",
    needs_usable=False,
)
