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

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.1
"""A softmax of less may well belong to something else."""

LEAST_GAIN = 1.03
"""Where the replay is sure of less, the change is not worth trying for this alone."""

SNIPPET = """\
out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)"""


def find(context: Context) -> Finding | None:
    """Rests on the names of the kernels and on the replay."""
    own = context.gains.of_class("softmax")
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
                name=f"softmax kernels outside of a loss, share {context.where}",
                value=share,
                unit="frac",
            ),
            Evidence(name=f"their time {context.each}", value=ns_to_ms(own.work_ns), unit="ms"),
            Evidence(name=f"how many {context.each}", value=own.kernels, unit="count"),
            Evidence(name="longest such kernel", value=own.name, unit="text"),
        ),
        action="Use scaled_dot_product_attention, or the switch of your library for it, in place of products and softmax.",
        snippet=SNIPPET,
        confidence="medium",
        share_frac=share,
    )


RULE = Rule(
    "AT001",
    "compute",
    "Attention runs as separate products and softmax",
    find,
    __doc__ or "",
    explained_by=("REC004",),
    gain=lambda context: one.gain if (one := context.gains.of_class("softmax")) else None,
)
