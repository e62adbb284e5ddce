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

from stepscope.advice.kind_of_work import KindOfWork, rule_of

LEAST_SHARE = 0.01
"""Less is not seen."""

LEAST_GAIN = 1.02
"""Where the replay is sure of less, the change is not worth trying for this alone."""

LEAST_KERNELS = 16
"""A model has more parameters than that."""

SNIPPET = """\
optimizer.zero_grad(set_to_none=True)"""

WORK = KindOfWork(
    kind="zero_grad",
    what="zero_grad",
    least_share=LEAST_SHARE,
    least_gain=LEAST_GAIN,
    least_kernels=LEAST_KERNELS,
    on_host=True,
    confidence="high",
    action="Let zero_grad drop the gradients instead of writing zeros into them.",
    snippet=SNIPPET,
)

RULE = rule_of(
    "ZG001",
    "host",
    "Gradients are set to zero one by one",
    WORK,
    __doc__ or "",
)
