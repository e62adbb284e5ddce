"""What the recorder costs outside its windows: the same loop with and without it, in turn, in one process.

usage: python -m benchmarks.record_cost [--blocks N] [--steps N] [--json FILE]

Each block of steps runs once plainly and once recorded, after the recorder's windows are over, in processor time of the
training thread, which a machine that steals time does not change. The loops: a tiny model on tensors in memory, the
same with a DataLoader in the training process, and that with cold caches, as a model has them that needs some milliseconds
a step. The start and the end of a run are timed too, without windows, analysis and report. Ends with 1 when a step of one of them pays 20
microseconds or more.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import torch  # noqa: TID251  (it measures what users run)

import stepscope
from benchmarks.loops import COLD, IN_MEMORY, WITH_LOADER, cost_of, options_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

MOST_US = 20
"""Less than this is asked for."""


def main() -> int:
    """Measure all loops and print a table."""
    options = options_of(__doc__)
    torch.set_num_threads(1)
    costs = [
        cost_of(loop, recorded, options.blocks, options.steps)
        for loop in (IN_MEMORY, WITH_LOADER, COLD)
    ]
    for cost in costs:
        print(cost.line())
    if options.json:
        options.json.write_text(json.dumps([asdict(cost) for cost in costs], indent=1) + "\n")
    return int(any(cost.added_us >= MOST_US for cost in costs))


def recorded(folder: Path) -> AbstractContextManager[object]:
    """A recording whose windows are soon over."""
    return stepscope.profile(out=folder, warmup=2, clean=3, active=2, analyze=False)


if __name__ == "__main__":
    sys.exit(main())
