"""Loader workers end with every epoch and are started anew.

What it does:
    Fires when the recorder saw at least two epochs, the loader has workers that do not live on, and by its own
    measurement an epoch's first batch came so much later than making it takes that saving half of that makes the
    mean step 2 % shorter or more.

Why it costs:
    New processes are started (by fork in some tens of milliseconds, by spawn in seconds, because each imports
    PyTorch), open their files and fill their caches again, while training waits.

Example:
    An epoch of 200 steps of 50 ms, whose first batch comes after three seconds.

What to try:
    ``persistent_workers=True``, and one DataLoader for all epochs instead of a new one for each.

When this is wrong:
    When the data set must be copied into the workers anew, because it changes between epochs.

References:
    https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_GAIN = 1.02
"""A smaller gain is not worth the memory that waiting workers keep."""

SNIPPET = """\
loader = DataLoader(..., persistent_workers=True)      # made once, before the epochs"""


def find(context: Context) -> Finding | None:
    """Rests on what the recorder saw of the loader."""
    loader, gain = context.loader, context.gains.restart
    if loader is None or gain is None or not loader.workers or loader.persistent:
        return None
    if gain.low < LEAST_GAIN:
        return None
    share = 1 - 1 / gain.high
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            Evidence(
                name="waiting for new workers, share of the mean step without the profiler",
                value=share,
                unit="frac",
            ),
            Evidence(
                name="first batches waited for, mean of the epochs",
                value=loader.first_wait_ms / max(loader.epochs, 1),
                unit="ms",
            ),
            Evidence(name="loader workers", value=loader.workers, unit="count"),
            Evidence(name="how they start", value=loader.start_method, unit="text"),
        ),
        action="Keep the workers between epochs, and make the DataLoader once, before the first epoch.",
        snippet=SNIPPET,
        confidence="high",
        share_frac=share,
    )


RULE = Rule(
    "IN004",
    "input",
    "Loader workers are started anew with every epoch",
    find,
    __doc__ or "",
    explained_by=("REC002",),
    needs_usable=False,
    gain=lambda context: context.gains.restart,
)
