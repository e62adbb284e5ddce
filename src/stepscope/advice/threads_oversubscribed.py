"""Operators have more threads than there are cores.

What it does:
    Fires when operators run on the CPU, and the threads of an operator, times the ranks that share the process's
    cores, are one and a half times as many as these cores or more. Ranks share cores when the recorder saw the same
    machine and the same set of cores for each.

Why it costs:
    All threads of an operator have to finish before the next one begins. When a thread waits for a core, all others
    wait for it, so that two threads on one core can take more than twice as long as one.

Example:
    Four ranks of ``torchrun`` that were each told ``OMP_NUM_THREADS=8``, in a job of eight cores; or a container
    with a limit of four cores on a machine of 64, of which PyTorch sees all 64.

What to try:
    As many threads for each rank as cores are left for it: the cores divided by the ranks, less the loader's
    workers while they compute. In Slurm ask for what you use with ``--cpus-per-task``.

When this is wrong:
    When operators are too small to be divided, so that a single thread does them all.

References:
    https://pytorch.org/docs/stable/notes/multiprocessing.html#avoid-cpu-oversubscription
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_RATIO = 1.5
"""A thread more than cores is usual, and harms little while one of them sleeps."""

SNIPPET = """\
export OMP_NUM_THREADS={threads}            # or torch.set_num_threads({threads}) at the start of the script
#SBATCH --cpus-per-task={wanted}         # to keep the {have} threads of each rank"""


def find(context: Context) -> Finding | None:
    """Rests on what the recorder asked PyTorch and the system."""
    run = context.run
    if run is None or run.cores is None or run.threads is None or not context.steady_count:
        return None
    if context.results.partition.has_device or context.results.facts.gpu_recorded is not None:
        return None
    wanted = run.threads * run.processes
    if wanted < LEAST_RATIO * run.cores:
        return None
    left = max(run.cores // run.processes, 1)
    ranks = f", for each of the {run.processes} ranks that share them" if run.processes > 1 else ""
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity="high" if wanted >= 2 * LEAST_RATIO * run.cores else "medium",
        title=RULE.title,
        evidence=(
            Evidence(name="threads of an operator in each rank", value=run.threads, unit="count"),
            Evidence(name="ranks that share the cores", value=run.processes, unit="count"),
            Evidence(name="cores that they may use", value=run.cores, unit="count"),
            Evidence(name="loader workers of each rank", value=run.workers, unit="count"),
        ),
        action=f"Give operators {left} thread{'' if left == 1 else 's'}{ranks}, or ask for more cores. No trace tells "
        "how long a thread waited for its core, so that the gain is not predicted; "
        + (
            "stepscope tune measures it."
            if run.processes == 1
            else "a short run of each measures it."
        ),
        snippet=SNIPPET.format(threads=left, wanted=wanted, have=run.threads),
        confidence="high",
    )


RULE = Rule(
    "TH001",
    "host",
    "Operators have more threads than there are cores",
    find,
    __doc__ or "",
)
