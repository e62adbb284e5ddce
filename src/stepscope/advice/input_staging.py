"""Batches wait for storage, and another file system was measured to be faster.

What it does:
    Fires when training waits for the next batch for a tenth of the steady step or more, somebody asked for a
    measured read of the data set's files on another file system (``stepscope analyze RUN --staging DIR``), and
    the model of the input pipeline gains a twentieth or more with the times that were measured there.

Why it costs:
    A worker that waits for storage makes no batch. Network and parallel file systems answer small reads slowly,
    whatever their bandwidth is.

Example:
    A hundred thousand JPEG files on a parallel file system, 4 ms a file, and 0.1 ms on the node's own disk.

What to try:
    Copy the data set to the node's own disk or to memory at the beginning of the job, in one large file.

When this is wrong:
    When copying takes longer than the job gains, or when the files came from memory during the run but not
    during the measured read.

References:
    https://docs.mila.quebec/Information.html#storage
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.1
"""Below a tenth of the step the best cure gains less than 1.11x, about the noise between two runs."""

LEAST_GAIN = 1.05
"""Copying a data set is work; less is not worth it."""

SNIPPET = """\
cp -r "$DATA" "$SLURM_TMPDIR/data"             # in the job's script, before training
python train.py --data "$SLURM_TMPDIR/data"
"""


def find(context: Context) -> Finding | None:
    """Rests on the part "input" of the partition and on the measured reads."""
    share, gain, staged = context.share("input"), context.gains.staging, context.gains.staged
    if share is None or share < LEAST_SHARE or gain is None or staged is None:
        return None
    if gain.low < LEAST_GAIN:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            *context.part_evidence("input", "waiting for data with nothing else running"),
            Evidence(
                name="reading a file where it lies", value=ns_to_ms(staged.source_ns), unit="ms"
            ),
            Evidence(name="reading a copy", value=ns_to_ms(staged.target_ns), unit="ms"),
            Evidence(name="data read from", value=staged.source, unit=""),
            Evidence(name="copies read from", value=staged.target, unit=""),
        ),
        action="Copy the data set to the faster file system before training; "
        f"{staged.copy_bytes_per_s / 1e6:.0f} MB a second were copied in the trial.",
        snippet=SNIPPET,
        confidence="medium",
        share_frac=share,
    )


RULE = Rule(
    "IN003",
    "input",
    "Batches wait for storage, and a faster one was measured",
    find,
    __doc__ or "",
    explained_by=("REC002",),
    needs_usable=False,
    gain=lambda context: context.gains.staging,
)
