"""What watching costs, beside other watchers: the same program under each, in one run.

usage: python benchmarks/watch_cost.py [--seconds N] [--peers PYTHON] [--json FILE]

The program computes for N seconds of its own processor time and then says how much it used. What the whole
tree used beyond that is the watcher's, start and end included. Memory is the proportional memory of the whole
tree less the program's. Both are counted by the kernel, so a machine that steals time does not change them.

``--peers`` names an interpreter beside which codecarbon, perun and traceml-ai are installed; those that are
not there are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from stepscope.watch.process_tree import ProcessTree

PROGRAM = """\
import json, sys, time
limit = float(sys.argv[1])
while time.process_time() < limit:
    for _ in range(100_000):
        pass
pss = [line.split()[1] for line in open("/proc/self/smaps_rollup") if line.startswith("Pss:")][0]
with open(sys.argv[2], "w") as file:
    json.dump({"cpu_s": time.process_time(), "pss": int(pss) * 1024}, file)
print("the program's own line")
"""
LOOK_EVERY_S = 0.25


@dataclass(frozen=True, slots=True)
class Cost:
    """What a watcher cost.

    Attributes:
        watcher: Its name.
        program_cpu_s: Processor time of the program, by its own account.
        wall_s: How long it all took.
        added_cpu_s: What the rest of the tree used.
        added_frac: The same as a share of one core over the time that the program ran.
        added_bytes: Proportional memory of the tree at its peak, less the program's.
        keeps_output: Whether standard output was the program's line and nothing else.
    """

    watcher: str
    program_cpu_s: float
    wall_s: float
    added_cpu_s: float
    added_frac: float
    added_bytes: int
    keeps_output: bool


def main() -> int:
    """Runs the program under each watcher."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time of the program")
    parser.add_argument(
        "--peers", type=Path, help="interpreter beside which the others are installed"
    )
    parser.add_argument("--json", type=Path, help="write the figures")
    args = parser.parse_args()
    costs = []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(PROGRAM, encoding="utf-8")
        for name, line in lines(args.peers).items():
            costs.append(measure(name, line, program, args.seconds))
            print(row(costs[-1]), flush=True)
    if args.json is not None:
        args.json.write_text(json.dumps([asdict(cost) for cost in costs], indent=1) + "\n")
    own = next(cost for cost in costs if cost.watcher == "stepscope watch")
    return 0 if own.added_frac < 0.005 and own.added_bytes < 60_000_000 and own.keeps_output else 1


def lines(peers: Path | None) -> dict[str, list[str]]:
    """Command lines that run ``PROGRAM SECONDS OUT`` under each watcher; those words are put in later."""
    found = {
        "nothing": [sys.executable, "PROGRAM", "SECONDS", "OUT"],
        "stepscope watch": [
            sys.executable, "-m", "stepscope", "watch", "--out=runs", "--", sys.executable, "PROGRAM", "SECONDS", "OUT",
        ],
    }  # fmt: skip
    if peers is None:
        return found
    python, place = str(peers), peers.parent
    others = {
        "codecarbon": ["monitor", "--offline", "--country-iso-code=NLD", "--", python, "PROGRAM", "SECONDS", "OUT"],
        "perun": ["monitor", "PROGRAM", "SECONDS", "OUT"],
        "traceml": ["watch", "PROGRAM", "--args", "SECONDS", "OUT"],
    }  # fmt: skip
    for name, words in others.items():
        if (place / name).exists():
            found[name] = [str(place / name), *words]
    return found


def measure(name: str, line: list[str], program: Path, seconds: float) -> Cost:
    """One run under one watcher."""
    folder = Path(tempfile.mkdtemp(dir=program.parent))
    words = {"PROGRAM": str(program), "SECONDS": str(seconds), "OUT": str(folder / "own.json")}
    command = [words.get(word, word) for word in line]
    environ = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("STEPSCOPE", "SLURM"))
    }
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        running = subprocess.Popen(
            command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        tree = ProcessTree(running.pid)
        start = time.monotonic()
        most = 0
        while os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            tree.find()
            tree.sample()
            most = max(most, tree.proportional_bytes() or 0)
            time.sleep(LOOK_EVERY_S)
        used = tree.sample().cpu_s
        wall = time.monotonic() - start
        running.wait()
    own = json.loads((folder / "own.json").read_text())
    added = max(used - own["cpu_s"], 0.0)
    return Cost(
        watcher=name,
        program_cpu_s=own["cpu_s"],
        wall_s=wall,
        added_cpu_s=added,
        added_frac=added / wall,
        added_bytes=max(most - own["pss"], 0),
        keeps_output=(folder / "out").read_text(errors="replace") == "the program's own line\n",
    )


def row(cost: Cost) -> str:
    """A line of the table."""
    kept = "kept" if cost.keeps_output else "changed"
    return (
        f"{cost.watcher:<16} {cost.wall_s:6.0f} s  {cost.added_cpu_s:7.2f} s  {cost.added_frac:8.2%}  "
        f"{cost.added_bytes / 1e6:7.1f} MB  output {kept}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
