"""Training waits for a DataLoader that works in the training process.

What it does:
    Fires when the device (without a device: the training thread) waits for the next batch for a
    tenth of the steady step or more, and the batches are made in the training process,
    ``num_workers=0``. Where the recorder timed the making of batches, the title says what it
    spends its time on: computing items, waiting for storage, collating or handing over.

Why it costs:
    Reading, decoding and transforming alternate with training, so neither overlaps the other.

Example:
    ResNet-50 on images decoded in the loop: 23 % of each step is waiting with an idle GPU.

What to try:
    Give the loader workers, keep them alive between epochs, and pin memory so that copies
    overlap.

When this is wrong:
    When the data set lies in memory and a batch takes microseconds: workers then cost more than
    they save.

References:
    https://pytorch.org/docs/stable/data.html#single-and-multi-process-data-loading
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
    persistent_workers=True,
    pin_memory=True,
)"""


def find(context: Context) -> Finding | None:
    """Rests on the part "input" of the partition and on the loader's name in the trace."""
    share, loader = context.share("input"), context.results.loader
    if share is None or share < LEAST_SHARE or loader.is_single_process is not True:
        return None
    is_steady = context.results.partition.is_steady
    waited = int(loader.per_step_ns[is_steady].sum())
    needed = context.gains.workers_needed
    workers = needed or 4
    arithmetic = arithmetic_of(context.gains.plan)
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
                value=context.ms_each(waited),
                unit="ms",
            ),
            Evidence(name="longest wait", value=ns_to_ms(loader.longest_ns), unit="ms"),
            Evidence(name="loader workers", value=0, unit="count"),
            *evidence_of_plan(context.gains.plan),
            *evidence_of(context.loader),
        ),
        action="Load batches in worker processes while the previous ones train. Start with "
        f"{workers} worker{'' if workers == 1 else 's'}."
        + (
            f" {arithmetic}"
            if arithmetic
            else " Double as long as the step gets shorter, up to the CPU cores that the process may use."
        )
        + (f" {cause.action}" if cause else ""),
        snippet=SNIPPET.format(workers=workers),
        confidence="high" if recorded else "medium",
        share_frac=share,
    )


RULE = Rule(
    "IN001",
    "input",
    "Batches are made in the training process while training waits",
    find,
    __doc__ or "",
    explained_by=("REC002",),
    needs_usable=False,
    gain=lambda context: context.gains.input,
)
