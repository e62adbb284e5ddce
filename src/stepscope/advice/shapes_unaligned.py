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

from stepscope.advice.kind_of_work import KindOfWork, rule_of

LEAST_SHARE = 0.1
"""Fewer such kernels are not worth changing a model."""

LEAST_GAIN = 1.01
"""Where the replay is sure of less, the change is not worth trying for this alone."""

SNIPPET = """\
vocabulary = (vocabulary + 7) // 8 * 8       # 50257 becomes 50264"""

WORK = KindOfWork(
    kind="narrow",
    what="products that load in pieces",
    least_share=LEAST_SHARE,
    least_gain=LEAST_GAIN,
    confidence="medium",
    action="Round the sizes of these products up to multiples of 8, first of all the vocabulary or the number of classes.",
    snippet=SNIPPET,
)

RULE = rule_of(
    "SH001",
    "compute",
    "Matrix products have rows at odd addresses",
    WORK,
    __doc__ or "",
)
