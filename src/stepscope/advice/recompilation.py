"""Functions are compiled anew in steady steps.

What it does:
    Fires when ``torch.compile`` compiles in at least two steady steps, and the replay without it gains a twentieth
    or more.

Why it costs:
    Compiling takes seconds, and nothing trains meanwhile. A function is compiled again for each new length of its
    inputs, each new value of a Python number in it, and each new object that it looks at; after eight times it
    is not compiled at all any more.

Example:
    Sentences of changing length, each of which is a new shape.

What to try:
    ``TORCH_LOGS=recompiles`` names what changed. Pad inputs to a few sizes, compile with ``dynamic=True``, mark the
    dimension with ``torch._dynamo.mark_dynamic``, keep numbers that change in tensors.

When this is wrong:
    In the first steps, before all shapes have been seen.

References:
    https://pytorch.org/docs/stable/torch.compiler_troubleshooting.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_STEPS = 2
"""One compilation may be the last."""

LEAST_GAIN = 1.05
"""Compiling is rare and long: what is less than this over the window may be chance."""

SNIPPET = """\
TORCH_LOGS=recompiles python train.py          # names what changed
model = torch.compile(model, dynamic=True)     # one graph for all lengths"""


def find(context: Context) -> Finding | None:
    """Rests on the ranges that PyTorch records while it compiles."""
    own = context.gains.recompiled
    if own is None or own.steps < LEAST_STEPS or own.gain.low < LEAST_GAIN:
        return None
    share = context.share_of(round(own.host_ns * context.steady_count))
    if share is None:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            Evidence(name=f"host compiling, share {context.where}", value=share, unit="frac"),
            Evidence(name=f"host compiling {context.each}", value=ns_to_ms(own.host_ns), unit="ms"),
            Evidence(name="steady steps that compile", value=own.steps, unit="count"),
            Evidence(name="compilations in them", value=own.count, unit="count"),
        ),
        action="Find out with TORCH_LOGS=recompiles what changes from step to step; pad inputs to a few sizes, or "
        "compile for changing ones.",
        snippet=SNIPPET,
        confidence="high",
        share_frac=share,
    )


RULE = Rule(
    "RC001",
    "host",
    "Functions are compiled anew in steady steps",
    find,
    __doc__ or "",
    gain=lambda context: own.gain if (own := context.gains.recompiled) else None,
)
