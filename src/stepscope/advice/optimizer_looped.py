"""The optimizer goes through the parameters one by one.

What it does:
    Fires when the optimizer launches 64 kernels or more in a step, a twentieth of the steady step or more is the
    host's time in it, and the replay with free launches there gains 3 % or more.

Why it costs:
    Each parameter has a few tiny kernels, whose launches take longer than their work; at the end of the step
    nothing else is there that the device could do meanwhile.

Example:
    SGD with momentum and weight decay on ResNet-50: 483 kernels in every step.

What to try:
    ``fused=True``, else ``foreach=True``, which is the default on GPUs since PyTorch 2.0; for optimizers of your
    own the ``torch._foreach_*`` functions or ``torch.compile``.

When this is wrong:
    When the optimizer cannot be fused and its kernels are the work itself.

References:
    https://pytorch.org/docs/stable/optim.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.05
"""Below a twentieth of the step an optimizer is not what to look at."""

LEAST_GAIN = 1.03
"""Where the replay is sure of less, the change is not worth trying for this alone."""

LEAST_KERNELS = 64
"""A fused optimizer launches a few dozen at most."""

SNIPPET = """\
optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)"""


def find(context: Context) -> Finding | None:
    """Rests on the range that PyTorch names around the optimizer, and on the replay."""
    own = context.gains.of_class("optimizer")
    if own is None or not context.steady_count or not context.steady_ns:
        return None
    share = max(own.host_ns, own.work_ns) * context.steady_count / context.steady_ns
    if share < LEAST_SHARE or own.gain.low < LEAST_GAIN or own.kernels < LEAST_KERNELS:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            Evidence(
                name=f"host in the optimizer's step, share {context.where}",
                value=share,
                unit="frac",
            ),
            Evidence(name=f"host in it {context.each}", value=ns_to_ms(own.host_ns), unit="ms"),
            Evidence(
                name=f"device work that it launches {context.each}",
                value=ns_to_ms(own.work_ns),
                unit="ms",
            ),
            Evidence(
                name=f"kernels that it launches {context.each}", value=own.kernels, unit="count"
            ),
        ),
        action="Use the fused implementation, which updates all parameters in a few kernels.",
        snippet=SNIPPET,
        confidence="high",
        share_frac=share,
    )


RULE = Rule(
    "OP001",
    "host",
    "The optimizer goes through the parameters one by one",
    find,
    __doc__ or "",
    explained_by=("REC004",),
    gain=lambda context: one.gain if (one := context.gains.of_class("optimizer")) else None,
)
