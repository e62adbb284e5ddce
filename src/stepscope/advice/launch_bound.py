"""The device waits for launches.

What it does:
    Fires when the device is idle for a fifth of the steady step or more because the host has
    not launched the next kernel yet, most launches find an empty queue, and kernels are shorter
    than the time between launches.

Why it costs:
    PyTorch needs some ten microseconds of host time for each operator. Kernels that are shorter
    than that leave the device waiting, however fast it is.

Example:
    A forward pass takes 33 ms for batch 2, 16 and 64 alike: 550 kernels of 9 us, one launched
    every 60 us.

What to try:
    Larger batches, ``torch.compile`` (``mode="reduce-overhead"`` replays a graph), fused
    optimizers, fewer and larger operators.

When this is wrong:
    Under a profiler that records stacks or shapes every operator takes longer: compare with the
    time of a step that was not recorded.

References:
    https://pytorch.org/blog/accelerating-pytorch-with-cuda-graphs/
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_us

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.2
"""The share from which the host names the regime."""

LONGEST_DELAY_NS = 50_000
"""A launch reaches an idle device within some ten microseconds; a longer median means a filled queue."""

LEAST_LAUNCHES = 10
"""With fewer launches a step, single long pauses explain the idle time, not the launches."""

SNIPPET = """\
model = torch.compile(model, mode="reduce-overhead")
optimizer = torch.optim.AdamW(model.parameters(), fused=True)"""


def find(context: Context) -> Finding | None:
    """Rests on the part "host" and on the launches."""
    share, launches = context.share("host"), context.results.launches
    if share is None or share < LEAST_SHARE or not is_launch_bound(context):
        return None
    mean, interval, delay = launches.mean_kernel_ns, launches.interval_ns, launches.median_delay_ns
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            *context.part_evidence("host", "device idle while the host prepares launches"),
            Evidence(name=f"launches {context.each}", value=launches.per_step, unit="count"),
            Evidence(
                name="mean time from launch to launch", value=ns_to_us(interval or 0), unit="us"
            ),
            Evidence(name="mean kernel duration", value=ns_to_us(mean or 0), unit="us"),
            Evidence(
                name="median delay from launch to start", value=ns_to_us(delay or 0), unit="us"
            ),
        ),
        action="Give each launch more work or launch less often: a larger batch, torch.compile (whose mode "
        '"reduce-overhead" replays a recorded graph), a fused optimizer.',
        snippet=SNIPPET,
        confidence="medium"
        if context.results.facts.has_shapes or context.results.facts.has_stacks
        else "high",
        share_frac=share,
    )


def is_launch_bound(context: Context) -> bool:
    """Whether launches find an empty queue and kernels are shorter than the time between launches."""
    launches = context.results.launches
    mean, interval, delay = launches.mean_kernel_ns, launches.interval_ns, launches.median_delay_ns
    if mean is None or interval is None or delay is None or launches.per_step is None:
        return False
    return launches.per_step >= LEAST_LAUNCHES and delay <= LONGEST_DELAY_NS and mean < interval


RULE = Rule(
    "LA001",
    "host",
    "The device waits for launches",
    find,
    __doc__ or "",
    explained_by=("ST001", "REC004"),
    yields_to=("SY001",),
    gain=lambda context: context.gains.launch,
)
