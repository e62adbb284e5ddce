"""Attention runs as separate matrix products and softmax.

What it does:
    Fires when a tenth of the steady step or more goes to softmax kernels that belong to no loss, and the replay
    with kernels of half their length gains 3 % or more.

Why it costs:
    The scores of all pairs of positions are written to memory and read again, by softmax and mask and dropout.
    A fused kernel never writes them.

Example:
    ``torch.softmax(q @ k.transpose(-2, -1) / d ** 0.5, dim=-1) @ v`` in a vision transformer on an H100: half
    of the kernels' time is softmax.

What to try:
    ``torch.nn.functional.scaled_dot_product_attention``, which picks FlashAttention or another fused kernel;
    libraries have a switch, for instance ``attn_implementation="sdpa"``.

When this is wrong:
    When the program needs the attention weights themselves, or softmax stands for something else than
    attention, as in a mixture of experts.

References:
    https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
"""

from __future__ import annotations

from stepscope.advice.kind_of_work import KindOfWork, rule_of

LEAST_SHARE = 0.1
"""A softmax of less may well belong to something else."""

LEAST_GAIN = 1.03
"""Where the replay is sure of less, the change is not worth trying for this alone."""

SNIPPET = """\
out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)"""

WORK = KindOfWork(
    kind="softmax",
    what="softmax kernels outside of a loss",
    least_share=LEAST_SHARE,
    least_gain=LEAST_GAIN,
    confidence="medium",
    action="Use scaled_dot_product_attention, or the switch of your library for it, in place of products and softmax.",
    snippet=SNIPPET,
)

RULE = rule_of(
    "AT001",
    "compute",
    "Attention runs as separate products and softmax",
    WORK,
    __doc__ or "",
)
