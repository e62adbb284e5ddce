"""The device waits for the program.

What it does:
    Fires when the device is idle for a fifth of the steady step or more while the host runs
    Python or operators, or, without a device, when the training thread spends that much outside
    PyTorch.

Why it costs:
    Nothing of the step can run on the device before the host launches it.

Example:
    Metrics, logging or checks in Python between the steps; preparation of batches in the
    training thread.

What to try:
    Move the line that the finding names out of the loop or into workers. For a trace without sampled
    stacks, find the Python that runs in the gaps (``py-spy top``).

    In steps below two milliseconds on the CPU it is mostly the calling of operators: larger batches
    or torch.compile help there.

When this is wrong:
    Under a profiler that records stacks or shapes every operator takes longer.

References:
    https://github.com/benfred/py-spy
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.job.lines import label_of
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context
    from stepscope.schema.report import LineRow

LEAST_SHARE = 0.2
"""The share from which the host names the regime."""

SHORTEST_WINDOW_NS = 50_000_000
"""Without steps, a window shorter than this is no training loop."""

TINY_STEP_NS = 2_000_000
"""In a shorter step most of what is outside operators is the calling of operators."""

_OF_TINY_STEPS = (
    "The step is so short that calling its operators takes this time, some microseconds for each, and no line of the "
    "program holds it. Give a step more to do, for instance by larger batches, or have torch.compile join the calls; "
    "taking logging out of the loop gains little."
)

SNIPPET = """\
if step % 100 == 0:        # not in every step
    log(loss.item())"""


def find(context: Context) -> Finding | None:
    """Rests on the part "host", or "other" without a device."""
    results = context.results
    part = "host" if results.partition.has_device else "other"
    share = context.share(part)
    if share is None or share < LEAST_SHARE or results.facts.gpu_recorded is False:
        return None
    if not context.has_steps and context.steady_ns < SHORTEST_WINDOW_NS:
        return None
    name = (
        "device idle while the host runs Python and operators"
        if part == "host"
        else "training thread outside PyTorch's operators"
    )
    line = context.line_in(part)
    heaviest = results.operators[0] if results.operators and part == "host" else None
    extra = (
        (
            Evidence(name="operator with most host time", value=heaviest.name, unit="text"),
            Evidence(name="its host time in the file", value=ns_to_ms(heaviest.self_ns), unit="ms"),
        )
        if heaviest
        else ()
    )
    is_tiny = _is_tiny(context, part, line)
    where = _where(line, context.part_ms(part))
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            *context.part_evidence(part, name),
            *extra,
            *_line_evidence(None if is_tiny else line, context),
        ),
        action=_OF_TINY_STEPS
        if is_tiny
        else f"{where} move that out of the loop, do it every hundredth step, or give it to another process.",
        snippet="" if is_tiny else SNIPPET,
        confidence="medium",
        share_frac=share,
    )


def _is_tiny(context: Context, part: str, line: LineRow | None) -> bool:
    """Whether the step is so short that calling operators takes it, and no line of the program's own does."""
    if part != "other" or not context.has_steps or context.lines is None:
        return False
    if context.results.spread.median_ns >= TINY_STEP_NS:
        return False
    part_ms = context.part_ms(part) or 0.0
    # Inside PyTorch's own Python a line only calls operators.
    return line is None or line.self_ms < part_ms / 2 or line.inner.startswith("torch.")


def _line_evidence(line: LineRow | None, context: Context) -> tuple[Evidence, ...]:
    if line is None:
        return ()
    return (
        Evidence(name="line that holds most of it", value=label_of(line), unit="text"),
        Evidence(name=f"time of that line {context.each}", value=line.self_ms, unit="ms"),
    )


def _where(line: LineRow | None, part_ms: float | None) -> str:
    if line is None:
        return "Look at the timeline for the gaps and at what the training thread does in them;"
    piece = "Most of it" if part_ms and line.self_ms >= part_ms / 2 else "The largest piece of it"
    inside = f", in {line.inner}" if line.inner else ""
    return f"{piece} is spent at line {line.line} of {PurePath(line.file).name}{inside}:"


RULE = Rule(
    "HO001",
    "host",
    "Training waits for the program's own Python and operators",
    find,
    __doc__ or "",
    explained_by=("LA001", "ST001", "REC004"),
    yields_to=("SY001",),
    gain=lambda context: context.gains.python,
)
