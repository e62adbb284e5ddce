"""Whether ``stepscope tune`` measures what a user measures by hand, on the demo's training script.

usage: python benchmarks/demo_gain.py [--workers N] [--rounds N] [--budget SECONDS]

By hand means: the unchanged script, without stepscope, with ``--workers 0`` and ``--workers N`` by turns, and a
clock at the lines that it prints. Both ways use mean steps over whole epochs, because batches of several workers
arrive in bunches. It ends with 1 when the two gains differ by more than 5 %. On a machine that others load, the
intervals say how much is to be believed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stepscope.experiment import Measured, Order, tune
from stepscope.experiment.judge import Ratio, ratio_of
from stepscope.lab.start import demo_script

FIRST, LAST = 40, 120
"""Steps at whose lines the clock is read; between them lie ten whole epochs of eight batches."""

AGREE = 0.05


def main() -> int:
    """Measure both ways; 0 when they agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2, help="loader workers (default: 2)")
    parser.add_argument("--rounds", type=int, default=4, help="pairs by hand (default: 4)")
    parser.add_argument("--budget", type=float, default=300.0, help="seconds for tune")
    options = parser.parse_args()
    without, changed = _pairs(options.workers, options.rounds)
    by_hand = ratio_of(without, changed)
    print(f"by hand: {sum(without) / len(without):.1f} ms a step with no worker, ", end="")
    print(f"{sum(changed) / len(changed):.1f} ms with {options.workers}: {_words(by_hand)}")
    with tempfile.TemporaryDirectory() as folder:
        found = _tuned(Path(folder), options.workers, options.budget)
    if found is None or found.gain is None:
        print("tune: not measured")
        return 1
    print(f"tune: {_words(Ratio(found.gain, found.low, found.high))} by {found.by}; ", end="")
    print(f"predicted {found.predicted_low:.2f}x to {found.predicted_high:.2f}x")
    apart = abs(found.gain / by_hand.gain - 1)
    print(f"apart: {apart:.1%}")
    return 0 if apart <= AGREE else 1


def _pairs(workers: int, rounds: int) -> tuple[list[float], list[float]]:
    """Mean steps in milliseconds without and with workers, by turns."""
    pairs = [(_by_hand(0), _by_hand(workers)) for _ in range(rounds)]
    return [one for one, _ in pairs], [other for _, other in pairs]


def _by_hand(workers: int) -> float:
    """Mean step of one run, from when its lines came."""
    command = [sys.executable, str(demo_script()), f"--workers={workers}", f"--steps={LAST}"]
    seen: dict[int, float] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            if line.startswith("step"):
                seen[int(line.split()[1])] = time.perf_counter()
    return (seen[LAST] - seen[FIRST]) / (LAST - FIRST) * 1e3


def _tuned(folder: Path, workers: int, budget_s: float) -> Measured | None:
    """What tune finds for the same number of workers."""
    command = (str(demo_script()), f"--steps={LAST}")
    name = f"{workers} loader worker{'s' if workers > 1 else ''}"
    done = tune(Order(command=command, folder=folder, budget_s=budget_s, only=(name,)))
    return next((one for one in done.changes if one.name == name), None)


def _words(ratio: Ratio) -> str:
    interval = "" if ratio.low is None else f" (95 %: {ratio.low:.2f}x to {ratio.high:.2f}x)"
    return f"{ratio.gain:.2f}x{interval}"


if __name__ == "__main__":
    raise SystemExit(main())
