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

from stepscope.advice.kind_of_work import KindOfWork, rule_of

LEAST_SHARE = 0.05
"""Below a twentieth of the step an optimizer is not what to look at."""

LEAST_GAIN = 1.03
"""Where the replay is sure of less, the change is not worth trying for this alone."""

LEAST_KERNELS = 64
"""A fused optimizer launches a few dozen at most."""

SNIPPET = """\
optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)"""

WORK = KindOfWork(
    kind="optimizer",
    what="the optimizer's step",
    least_share=LEAST_SHARE,
    least_gain=LEAST_GAIN,
    least_kernels=LEAST_KERNELS,
    on_host=True,
    confidence="high",
    action="Use the fused implementation, which updates all parameters in a few kernels.",
    snippet=SNIPPET,
)

RULE = rule_of(
    "OP001",
    "host",
    "The optimizer goes through the parameters one by one",
    WORK,
    __doc__ or "",
)
