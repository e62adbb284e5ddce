"""A GPU is there, but all work runs on the CPU.

What it does:
    Fires when the trace's header lists a device while operators ran and nothing was launched to
    it.

Why it costs:
    The GPU is paid for, and the same work usually runs ten to a hundred times faster on it.

Example:
    ``model.to(device)`` is missing, or ``device`` fell back to ``"cpu"`` because of a broken
    install.

What to try:
    Move the model and every batch to the device, and print the device of a parameter once.

When this is wrong:
    When the window holds data preparation or evaluation that is meant to run on the CPU.

References:
    https://pytorch.org/docs/stable/notes/cuda.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

SNIPPET = """\
device = torch.device("cuda")
model = model.to(device)                              # once, before the optimizer is made
inputs, targets = inputs.to(device), targets.to(device)  # every batch"""


def find(context: Context) -> Finding | None:
    """Rests on the header's devices and on the absence of any launch."""
    facts = context.results.facts
    unused = facts.gpu_recorded is None and facts.listed_device is not None
    if not unused or facts.operator_count == 0:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity="high",
        title=RULE.title,
        evidence=(
            Evidence(
                name="device listed", value=facts.listed_device or "name not recorded", unit="text"
            ),
            Evidence(name="operators on the CPU", value=facts.operator_count, unit="count"),
            Evidence(
                name="launches to the device", value=context.results.launches.count, unit="count"
            ),
        ),
        action="Move the model and the batches to the GPU. If they are moved already, check that "
        "torch.cuda.is_available() is true where the script runs: a CPU-only build of PyTorch falls back silently.",
        snippet=SNIPPET,
        confidence="high",
        share_frac=1.0,
    )


RULE = Rule(
    "DEV001", "device-unused", "A GPU is there, but all work runs on the CPU", find, __doc__ or ""
)
