"""Matrix products have rows at odd addresses.

What it does:
    Fires when a tenth of the steady step or more goes to Tensor Core kernels that load one, two or four values at
    a time (``align1``, ``align2``, ``align4`` in the kernel's name), and the replay with kernels a tenth faster
    gains 1 % or more.

Why it costs:
    Tensor Cores are fed with 16 bytes at a time, eight values of 16 bits. Where a row's length is no multiple of
    that, rows begin in the middle and are loaded in pieces, up to twice as slowly.

Example:
    A vocabulary of 50257 or 1000 + 3 classes; an embedding of 770.

What to try:
    Round vocabulary, channels, hidden sizes and batch up to multiples of 8 (in 16 bits; 4 with TF32), and pad
    sequences to them.

When this is wrong:
    When the odd size is in the data and padding costs more than it gains.

References:
    https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.1
"""Fewer such kernels are not worth changing a model."""

LEAST_GAIN = 1.01
"""Where the replay is sure of less, the change is not worth trying for this alone."""

SNIPPET = """\
vocabulary = (vocabulary + 7) // 8 * 8       # 50257 becomes 50264"""


def find(context: Context) -> Finding | None:
    """Rests on the alignment in the names of CUTLASS kernels and on the replay."""
    own = context.gains.of_class("narrow")
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
                name=f"products that load in pieces, share {context.where}",
                value=share,
                unit="frac",
            ),
            Evidence(name=f"their time {context.each}", value=ns_to_ms(own.work_ns), unit="ms"),
            Evidence(name=f"how many {context.each}", value=own.kernels, unit="count"),
            Evidence(name="longest such kernel", value=own.name, unit="text"),
        ),
        action="Round the sizes of these products up to multiples of 8, first of all the vocabulary or the number of classes.",
        snippet=SNIPPET,
        confidence="medium",
        share_frac=share,
    )


RULE = Rule(
    "SH001",
    "compute",
    "Matrix products have rows at odd addresses",
    find,
    __doc__ or "",
    explained_by=("REC004",),
    gain=lambda context: one.gain if (one := context.gains.of_class("narrow")) else None,
)
