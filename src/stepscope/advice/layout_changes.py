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

from stepscope.advice.kind_of_work import KindOfWork, rule_of

LEAST_SHARE = 0.05
"""Below a twentieth the gain is lost among other effects of the layout."""

LEAST_GAIN = 1.02
"""Where the replay is sure of less, the change is not worth trying for this alone."""

SNIPPET = """\
model = model.to(memory_format=torch.channels_last)
images = images.to(device, memory_format=torch.channels_last, non_blocking=True)"""

WORK = KindOfWork(
    kind="layout",
    what="kernels that change the layout",
    least_share=LEAST_SHARE,
    least_gain=LEAST_GAIN,
    confidence="high",
    action="Keep model and images in the channels-last layout, so that convolutions find it and nothing is copied.",
    snippet=SNIPPET,
)

RULE = rule_of(
    "CL001",
    "compute",
    "Images change their memory layout between kernels",
    WORK,
    __doc__ or "",
)
