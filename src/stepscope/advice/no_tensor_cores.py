"""Matrix products run without Tensor Cores.

What it does:
    Fires when 15 % of the steady step or more goes to matrix products and convolutions in
    kernels that use no Tensor Cores (matrix cores), on a device that has them.

Why it costs:
    Tensor Cores multiply matrices several times faster than the plain cores.

Example:
    ``volta_sgemm_64x64_nt`` and ``cudnn_volta_scudnn_*`` in float32 on a V100 or RTX 2080 Ti.

What to try:
    Mixed precision (``torch.autocast``); from Ampere on also TF32, which is one line.

When this is wrong:
    When the numerics do not bear it, or when matrices are too small or their sizes no multiple
    of 8.

References:
    https://pytorch.org/docs/stable/amp.html,
    https://pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.15
"""Below, even kernels that take no time at all would gain less than 1.18x."""

LEAST_OF_KERNELS = 0.2
"""Share of kernel time below which single unusual kernels decide."""

TF32 = """\
torch.set_float32_matmul_precision("high")
torch.backends.cudnn.allow_tf32 = True
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = loss_fn(model(inputs), targets)"""

FP16 = """\
scaler = torch.amp.GradScaler("cuda")
with torch.autocast("cuda", dtype=torch.float16):
    loss = loss_fn(model(inputs), targets)
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()"""


def find(context: Context) -> Finding | None:
    """Rests on the names of the kernels and on the device's generation."""
    facts, gpu, compute = context.results.facts, context.results.gpu, context.share("compute")
    plain = gpu.plain_matrix_frac
    if facts.has_tensor_cores is not True or plain is None or compute is None:
        return None
    share = plain * compute
    if share < LEAST_SHARE or plain < LEAST_OF_KERNELS:
        return None
    has_tf32 = facts.compute_capability is None or facts.compute_capability >= (8, 0)
    slowest = next(
        (k for k in context.results.kernels if k.is_matrix and k.uses_tensor_cores is False), None
    )
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            Evidence(
                name=f"matrix kernels without Tensor Cores, share {context.where}",
                value=share,
                unit="frac",
            ),
            Evidence(
                name="the same, share of the kernel time in the file", value=plain, unit="frac"
            ),
            Evidence(
                name="kernel time on Tensor Cores, share", value=gpu.tensor_core_frac, unit="frac"
            ),
            Evidence(
                name="longest such kernel", value=slowest.name if slowest else None, unit="text"
            ),
            Evidence(name="device", value=facts.device, unit="text"),
        ),
        action="Allow TF32 for float32 products, and train in mixed precision with bfloat16."
        if has_tf32
        else "Train in mixed precision with float16 and a gradient scaler; keep sizes multiples of 8.",
        snippet=TF32 if has_tf32 else FP16,
        confidence="high",
        share_frac=share,
    )


RULE = Rule(
    "TC001",
    "compute",
    "Matrix products run without Tensor Cores",
    find,
    __doc__ or "",
    gain=lambda context: context.gains.tensor_cores,
)
