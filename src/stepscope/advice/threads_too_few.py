"""Operators leave most cores idle.

What it does:
    Fires when operators run on the CPU and compute for half of the steady step or more, and the threads of an
    operator, times the ranks that share the process's cores, with the loader's workers are a quarter of these cores
    or fewer, of at least four.

Why it costs:
    Matrix products and convolutions on the CPU are divided among threads. Cores that get none do nothing.

Example:
    ``torchrun`` sets ``OMP_NUM_THREADS=1`` for each of its ranks when nobody else did, in a job of 16 cores.

What to try:
    As many threads for each rank as cores are left for it.

When this is wrong:
    When operators are too small to be divided, or wait for memory that one core already fills.

References:
    https://pytorch.org/docs/stable/elastic/run.html,
    https://pytorch.org/docs/stable/notes/cpu_threading_torchscript_inference.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

MOST_RATIO = 0.25
"""Twice as many threads are seldom twice as fast, so that only a large surplus is worth a word."""

LEAST_COMPUTING = 0.5
"""Where training computes for less of its step, something else comes first."""

LEAST_CORES = 4

COMPUTING = ("forward", "backward", "optimizer")

SNIPPET = """\
export OMP_NUM_THREADS={threads}            # or torch.set_num_threads({threads}) at the start of the script"""


def find(context: Context) -> Finding | None:
    """Rests on what the recorder asked PyTorch and the system, and on the parts of the step."""
    run = context.run
    if run is None or run.cores is None or run.threads is None or not context.steady_count:
        return None
    if context.results.partition.has_device or context.results.facts.gpu_recorded is not None:
        return None
    computing = sum(context.share(part) or 0.0 for part in COMPUTING)
    used = (run.threads + run.workers) * run.processes
    if computing < LEAST_COMPUTING or run.cores < LEAST_CORES or used > MOST_RATIO * run.cores:
        return None
    left = max(run.cores // run.processes - run.workers, 1)
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity="medium",
        title=RULE.title,
        evidence=(
            Evidence(name=f"operators, share {context.where}", value=computing, unit="frac"),
            Evidence(name="threads of an operator in each rank", value=run.threads, unit="count"),
            Evidence(name="ranks that share the cores", value=run.processes, unit="count"),
            Evidence(name="loader workers of each rank", value=run.workers, unit="count"),
            Evidence(name="cores that they may use", value=run.cores, unit="count"),
        ),
        action=f"Give operators {left} threads. How well they divide no trace tells, so that the gain is not predicted; "
        + (
            "stepscope tune measures it."
            if run.processes == 1
            else "a short run of each measures it."
        ),
        snippet=SNIPPET.format(threads=left),
        confidence="low",
        share_frac=computing,
    )


RULE = Rule(
    "TH002",
    "compute",
    "Operators leave most cores idle",
    find,
    __doc__ or "",
)
