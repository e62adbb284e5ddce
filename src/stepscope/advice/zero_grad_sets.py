"""Gradients are set to zero one by one.

What it does:
    Fires when ``zero_grad`` launches 16 kernels or sets or more in a step, and the replay without it gains 2 % or
    more.

Why it costs:
    Each gradient is written with zeros, and the backward pass reads them to add to them. Gradients that are
    dropped instead are written once.

Example:
    ``optimizer.zero_grad(set_to_none=False)``, or PyTorch before 2.0: 161 sets for ResNet-50 in each step.

What to try:
    ``set_to_none=True``, the default since PyTorch 2.0.

When this is wrong:
    When code reads gradients that may not be there.

References:
    https://pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.01
"""Less is not seen."""

LEAST_GAIN = 1.02
"""Where the replay is sure of less, the change is not worth trying for this alone."""

LEAST_KERNELS = 16
"""A model has more parameters than that."""

SNIPPET = """\
optimizer.zero_grad(set_to_none=True)"""


def find(context: Context) -> Finding | None:
    """Rests on the range that PyTorch names around zero_grad, and on the replay."""
    own = context.gains.of_class("zero_grad")
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
            Evidence(name=f"host in zero_grad, share {context.where}", value=share, unit="frac"),
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
        action="Let zero_grad drop the gradients instead of writing zeros into them.",
        snippet=SNIPPET,
        confidence="high",
        share_frac=share,
    )


RULE = Rule(
    "ZG001",
    "host",
    "Gradients are set to zero one by one",
    find,
    __doc__ or "",
    explained_by=("REC004",),
    gain=lambda context: one.gain if (one := context.gains.of_class("zero_grad")) else None,
)
