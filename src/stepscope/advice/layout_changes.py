"""Images change their memory layout between kernels.

What it does:
    Fires when a twentieth of the steady step or more goes to kernels of cuDNN that copy images between the
    layouts NCHW and NHWC, and the replay with half of them gains 2 % or more.

Why it costs:
    Tensor Cores convolve images whose channels lie together. Where the model keeps its channels first, cuDNN
    copies every image there and back around each convolution.

Example:
    ResNet-50 in mixed precision with PyTorch's default layout: every tenth of the kernels' time is
    ``nchwToNhwcKernel``.

What to try:
    Keep model and images with their channels last, in all layers.

When this is wrong:
    When single layers know only one layout: then some of the copies stay.

References:
    https://pytorch.org/tutorials/intermediate/memory_format_tutorial.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.05
"""Below a twentieth the gain is lost among other effects of the layout."""

LEAST_GAIN = 1.02
"""Where the replay is sure of less, the change is not worth trying for this alone."""

SNIPPET = """\
model = model.to(memory_format=torch.channels_last)
images = images.to(device, memory_format=torch.channels_last, non_blocking=True)"""


def find(context: Context) -> Finding | None:
    """Rests on the names of cuDNN's kernels and on the replay."""
    own = context.gains.of_class("layout")
    if own is None or not context.steady_count or not context.steady_ns:
        return None
    share = own.work_ns * context.steady_count / context.steady_ns
    if share < LEAST_SHARE or own.gain.low < LEAST_GAIN:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            Evidence(
                name=f"kernels that change the layout, share {context.where}",
                value=share,
                unit="frac",
            ),
            Evidence(name=f"their time {context.each}", value=ns_to_ms(own.work_ns), unit="ms"),
            Evidence(name=f"how many {context.each}", value=own.kernels, unit="count"),
            Evidence(name="longest such kernel", value=own.name, unit="text"),
        ),
        action="Keep model and images in the channels-last layout, so that convolutions find it and nothing is copied.",
        snippet=SNIPPET,
        confidence="high",
        share_frac=share,
    )


RULE = Rule(
    "CL001",
    "compute",
    "Images change their memory layout between kernels",
    find,
    __doc__ or "",
    explained_by=("REC004",),
    gain=lambda context: one.gain if (one := context.gains.of_class("layout")) else None,
)
