"""Mixed precision costs more in casts than it gains.

What it does:
    Fires when a tenth of the steady step or more goes to casts between 32 and 16 bits, on the host or on the
    device, and the replay without casts gains 2 % or more even though every kernel in 16 bits then takes twice as
    long (matrix products on devices without TF32 eight times).

Why it costs:
    Autocast converts the inputs and the weights of each product before it, and in the backward pass once more.
    Each conversion is a kernel that reads and writes the whole tensor, and a launch. Products that are small, or
    few among other operators, never win that time back.

Example:
    A small model: 24 products of 20 us in bfloat16 with 60 casts of 6 us beside them, each of which costs the host
    30 us.

What to try:
    Leave autocast out and allow TF32; or keep model and batches in bfloat16 throughout, so that nothing is
    converted; or let ``torch.compile`` fuse the casts into their neighbours. A larger batch makes it pay.

When this is wrong:
    When mixed precision is there to save memory. The low end knows no kernel of the other type: it takes twice the
    time for all that has 16 bits in its name.

References:
    https://pytorch.org/docs/stable/amp.html,
    https://pytorch.org/tutorials/recipes/recipes/amp_recipe.html
"""

from __future__ import annotations

from stepscope.advice.kind_of_work import KindOfWork, rule_of

LEAST_SHARE = 0.1
"""Ordinary mixed precision casts for a few per cent of the step."""

LEAST_GAIN = 1.02
"""Where the replay is sure of less, mixed precision pays, or costs nothing."""

LEAST_CASTS = 4
"""One or two casts a step are the batch's own."""

SNIPPET = """\
torch.set_float32_matmul_precision("high")        # TF32, no autocast
loss = loss_fn(model(inputs), targets)"""

WORK = KindOfWork(
    kind="casts",
    what="casts between types",
    least_share=LEAST_SHARE,
    least_gain=LEAST_GAIN,
    least_kernels=LEAST_CASTS,
    on_host=True,
    confidence="medium",
    action="Measure the step without autocast and with TF32; or keep model and batches in bfloat16 throughout, or let "
    "torch.compile fuse the casts. The low end of the gain leaves mixed precision out, the high end only its casts.",
    snippet=SNIPPET,
)

RULE = rule_of(
    "AM001",
    "compute",
    "Mixed precision costs more in casts than it gains",
    WORK,
    __doc__ or "",
    explained_by=("REC004", "ST001"),
)
