"""A hidden synchronisation empties the device's queue.

What it does:
    Fires when a twentieth of the steady step or more is device idle time that follows a call in
    which the host waited for the device, or when the replay shows that without such calls the step
    would be a twentieth shorter: the host could have run ahead.

Why it costs:
    While the host waits it launches nothing. When the device has finished it stands idle until
    the host has launched again.

Example:
    ``loss.item()`` in every step, a mask that becomes an index (``aten::nonzero``), a copy
    without pinned memory.

What to try:
    Keep values on the device and read them rarely; use ``torch.where`` in place of boolean
    indexing.

When this is wrong:
    When the program needs the value at once, for instance to decide whether to go on.

References:
    https://pytorch.org/docs/stable/generated/torch.cuda.set_sync_debug_mode.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.05
"""One line often causes it, so that a twentieth of the step is worth looking for that line."""

SNIPPET = """\
running += loss.detach()                 # stays on the device
if step % 100 == 0:
    print(running.item() / 100)          # one wait in a hundred steps
torch.cuda.set_sync_debug_mode("warn")   # names every line that waits"""

_BY_MASK = (
    "Replace the operation whose result has a size that only the device knows: torch.where, or "
    "multiplying with the mask, in place of boolean indexing."
)

_CURES = (
    (
        ("aten::item", "aten::is_nonzero"),
        "Read the value on the host every hundredth step, not in every one.",
    ),
    (
        ("aten::nonzero", "aten::masked_select", "aten::index", "aten::unique"),
        _BY_MASK,
    ),
    (
        ("aten::to", "aten::copy_", "aten::_to_copy", "aten::cpu"),
        "Pin the host's memory and copy with non_blocking=True.",
    ),
    (
        ("cudaDeviceSynchronize", "hipDeviceSynchronize"),
        "Take torch.cuda.synchronize() out of the loop.",
    ),
)


def find(context: Context) -> Finding | None:
    """Rests on the part "sync" of the partition and on what encloses the blocking calls."""
    share, sync = context.share("sync"), context.results.sync
    if share is None or not sync.culprits:
        return None
    gain = context.gains.sync
    saved = 1 - 1 / gain.low if gain is not None else 0.0
    if max(share, saved) < LEAST_SHARE:
        return None
    worst = sync.culprits[0]
    calls = sum(culprit.count for culprit in sync.culprits) / context.steady_count
    cure = next(
        (text for names, text in _CURES if worst.operator.startswith(names)),
        "Find the line that makes the host wait, and move it out of the loop.",
    )
    line = (Evidence(name="line", value=worst.line, unit="text"),) if worst.line else ()
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(max(share, saved)),
        title=RULE.title,
        evidence=(
            *context.part_evidence("sync", "device idle after the host had waited for it"),
            Evidence(name=f"blocking calls {context.each}", value=calls, unit="count"),
            Evidence(name="what forces most of it", value=worst.operator, unit="text"),
            Evidence(
                name=f"idle behind it {context.each}",
                value=context.ms_each(worst.refill_ns),
                unit="ms",
            ),
            *line,
        ),
        action=cure,
        snippet=SNIPPET,
        confidence="high" if worst.operator.startswith("aten::") else "medium",
        share_frac=max(share, saved),
    )


RULE = Rule(
    "SY001",
    "sync",
    "A hidden synchronisation leaves the device idle",
    find,
    __doc__ or "",
    explained_by=("REC004",),
    yields_to=("AL001",),
    gain=lambda context: context.gains.sync,
)
