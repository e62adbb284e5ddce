"""What the always-on light mode costs: the same loop with and without it, in turn, in one process.

usage: python -m benchmarks.light_cost [--blocks N] [--steps N] [--json FILE]

Each block of steps runs once plainly and once in light mode, in processor time of the training thread, which a machine
that steals time does not change. The cost is shown as a share of a step of 5 ms, of which it may take 0.5 %. The loops:
a tiny model on tensors in memory, the same with a DataLoader in the training process, that with cold caches, as a
model has them that needs some milliseconds a step, and with DistributedDataParallel (gloo, one process). The size on
disk is that of an hour of steps of 5 ms with varying parts, given to the writer one by one. Ends with 1 when a limit
is not kept.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import torch  # noqa: TID251  (it measures what users run)

from benchmarks.loops import (
    COLD,
    IN_MEMORY,
    PARALLEL,
    STEP_US,
    WITH_LOADER,
    cost_of,
    one_process_group,
    options_of,
)
from stepscope.record.job import Job, JobOptions
from stepscope.record.light_journal import LightJournal
from stepscope.record.plan import Plan
from stepscope.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_SHARE = 0.005
MOST_BYTES_AN_HOUR = 1_000_000


def main() -> int:
    """Measure all loops and print a table; 1 where a limit is not kept."""
    options = options_of(__doc__)
    torch.set_num_threads(1)
    counts = options.blocks, options.steps
    costs = [cost_of(loop, light, *counts) for loop in (IN_MEMORY, WITH_LOADER, COLD)]
    with one_process_group():
        costs.append(cost_of(PARALLEL, light, *counts))
    for cost in costs:
        print(cost.line())
    size = bytes_an_hour()
    print(f"an hour of steps of 5 ms: {size:,} bytes a rank")
    kept = size < MOST_BYTES_AN_HOUR and all(cost.share < MOST_SHARE for cost in costs)
    if options.json:
        document = {"costs": [asdict(cost) for cost in costs], "bytes_an_hour": size}
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if kept else 1


@contextmanager
def light(folder: Path) -> Iterator[None]:
    """A recording in light mode."""
    folder.mkdir()
    job = Job(
        JobOptions(
            name="cost",
            command=("cost",),
            plan=Plan(light=True),
            out=str(folder),
            analyze=False,
            joins=True,
        )
    )
    job.begin()
    yield
    job.end(None)


def bytes_an_hour() -> int:
    """Bytes that an hour of 5 ms steps leaves on disk."""
    draw = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        journal = LightJournal(Path(folder), ("cost",), 0, is_of_a_launcher=True)
        start = 0
        for number in range(3_600_000_000 // STEP_US):
            length = int(draw.gauss(STEP_US, 500)) * NS_PER_US
            journal.marks.passed_backward(0, 0)
            journal.step(number, "later", start, length, length // 7)
            start += length
        journal.finish(None)
        return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
