"""Training waits for the DataLoader although it has workers.

What it does:
    Fires when the device (without a device: the training thread) waits for the next batch for a
    tenth of the steady step or more, and the loader has worker processes, or its name does not
    tell. Where the recorder timed the workers, the title says what they spend their time on:
    computing items, waiting for storage, collating, handing over, or waiting for a core.

Why it costs:
    The workers together deliver batches more slowly than training takes them.

Example:
    Four workers decode large images: every fourth step waits for half a second.

What to try:
    More workers while there are CPU cores, cheaper decoding and transforms, transforms on the
    GPU, smaller stored images; when the workers wait for storage instead, a copy of the data on
    a faster disk.

When this is wrong:
    When the wait is the start of the workers at the head of an epoch: see the longest wait.

References:
    https://pytorch.org/docs/stable/data.html#multi-process-data-loading
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.advice.input_cause import cause_of, evidence_of
from stepscope.advice.input_plan import arithmetic_of, evidence_of_plan
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.1
"""Below a tenth of the step the best cure gains less than 1.11x, about the noise between two runs."""

SNIPPET = """\
loader = DataLoader(
    dataset,
    batch_size=...,
    num_workers={workers},            # not more than the CPU cores this process may use
    prefetch_factor=4,
    persistent_workers=True,
    pin_memory=True,
)"""


def find(context: Context) -> Finding | None:
    """Rests on the part "input" of the partition."""
    share, loader = context.share("input"), context.results.loader
    if share is None or share < LEAST_SHARE or loader.is_single_process is True:
        return None
    is_steady = context.results.partition.is_steady
    waits = loader.per_step_ns[is_steady]
    recorded = context.results.facts.gpu_recorded is not False
    cause = cause_of(context.loader)
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title + (cause.title if cause else ""),
        evidence=(
            *context.part_evidence("input", "waiting for data with nothing else running"),
            Evidence(
                name=f"waiting for the DataLoader {context.each}",
                value=context.ms_each(int(waits.sum())),
                unit="ms",
            ),
            Evidence(name="longest wait", value=ns_to_ms(loader.longest_ns), unit="ms"),
            Evidence(name="waits in the file", value=loader.count, unit="count"),
            *evidence_of_plan(context.gains.plan),
            *evidence_of(context.loader),
        ),
        action=" ".join(part for part in (arithmetic_of(context.gains.plan), cause.action) if part)
        if cause
        else "Make batches faster than training takes them: more workers while CPU cores are free, then cheaper "
        "decoding and transforms or transforms on the GPU. If the workers' CPUs are not busy, they wait for "
        "storage: copy the data to a local disk first.",
        snippet=SNIPPET.format(workers=context.gains.workers_needed or 8),
        confidence="high" if recorded else "medium",
        share_frac=share,
    )


RULE = Rule(
    "IN002",
    "input",
    "The DataLoader's workers cannot keep up with training",
    find,
    __doc__ or "",
    explained_by=("REC002",),
    needs_usable=False,
    gain=lambda context: context.gains.input,
)
