"""What watching costs, beside other watchers: the same program under each, in one run.

usage: python benchmarks/watch_cost.py [--seconds N] [--peers PYTHON] [--json FILE]
       python benchmarks/watch_cost.py --training [--rounds N] [--seconds N] [--json FILE]

The program computes for N seconds of its own processor time and then says how much it used. What the whole
tree used beyond that is the watcher's, start and end included. Memory is the proportional memory of the whole
tree less the program's. Both are counted by the kernel, so a machine that steals time does not change them.

``--peers`` names an interpreter beside which codecarbon, perun and traceml-ai are installed; those that are
not there are left out.

``--training`` watches a program that trains with PyTorch, so that its steps are timed too (light mode): plainly and under
``watch``, by turns, several rounds. What the tree used beyond the program's own account is the watcher's, as above, less what
Python's and PyTorch's own end takes in the plain run. What timing adds lies inside the program: a run under ``watch`` ends
light mode and begins it again, block of 128 steps by block, and its cost is the median of the differences of neighbours, in processor
time of the training thread, because two runs of the same program differ by more than is looked for. Memory is the peak of
the whole tree less that of the plain program's. The watcher's start and end, measured on a command that does nothing, cost the same
however long a run is; they are told apart, and the sum is that of a run of ten minutes. Ends with 1 where ``watch`` takes
0.5 % of its time or 60 MB, with 2 where the differences are spread too widely to say so.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles

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
TRAINING = """\
import json, sys, tempfile, time, torch
from pathlib import Path
from torch.utils.data import DataLoader, TensorDataset
limit, block, width, by_turns = float(sys.argv[1]), 128, 768, len(sys.argv) > 3
torch.set_num_threads(1)
torch.manual_seed(0)
data = TensorDataset(torch.randn(block * 32, width), torch.randint(0, 10, (block * 32,)))
loader = DataLoader(data, batch_size=32)
model = torch.nn.Sequential(
    torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 10)
)
optimizer = torch.optim.SGD(model.parameters(), 0.001)

def steps_us():
    start = time.thread_time()
    for batch, label in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch), label).backward()
        optimizer.step()
    return 1e6 * (time.thread_time() - start) / block

def turned(is_on):
    from stepscope.record.job import Job, JobOptions
    from stepscope.record.plan import Plan
    if Job.current is not None:
        Job.current.end(None)
    if is_on:
        folder = tempfile.mkdtemp(dir=".")
        Job(JobOptions(name="cost", command=("cost",), plan=Plan(light=True), out=folder, analyze=False, joins=True)).begin()
    return steps_us()

steps_us()
if by_turns:
    from stepscope.record.job import Job
    assert Job.current is not None and Job.current.is_light, "the watch does not time steps"
plain, timed, is_first = [], [], True
while time.process_time() < limit or len(plain) < 8:
    if not by_turns:
        plain.append(steps_us())
    elif is_first:
        timed.append(turned(True))
        plain.append(turned(False))
    else:
        plain.append(turned(False))
        timed.append(turned(True))
    is_first = not is_first
pss = [line.split()[1] for line in open("/proc/self/smaps_rollup") if line.startswith("Pss:")][0]
with open(sys.argv[2], "w") as file:
    json.dump({"cpu_s": time.process_time(), "pss": int(pss) * 1024, "plain_us": plain, "timed_us": timed}, file)
print("the program's own line")
"""
LOOK_EVERY_S = 0.25
MOST_FRAC = 0.005
MOST_BYTES = 60_000_000
RUN_S = 600.0


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
        peak_bytes: Proportional memory of the tree at its peak.
        plain_us, timed_us: Mean steps of neighbouring blocks without and with timing, of a program that tells them.
    """

    watcher: str
    program_cpu_s: float
    wall_s: float
    added_cpu_s: float
    added_frac: float
    added_bytes: int
    keeps_output: bool
    peak_bytes: int
    plain_us: tuple[float, ...] = ()
    timed_us: tuple[float, ...] = ()


def main() -> int:
    """Runs the program under each watcher."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time of the program")
    parser.add_argument(
        "--peers", type=Path, help="interpreter beside which the others are installed"
    )
    parser.add_argument("--training", action="store_true", help="a program that trains")
    parser.add_argument("--rounds", type=int, default=6, help="of --training (default: 6)")
    parser.add_argument("--json", type=Path, help="write the figures")
    args = parser.parse_args()
    return training(args) if args.training else beside_others(args)


def beside_others(args: argparse.Namespace) -> int:
    """Runs a program without PyTorch under each watcher."""
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
    kept = own.added_frac < MOST_FRAC and own.added_bytes < MOST_BYTES and own.keeps_output
    return 0 if kept else 1


WATCH = (sys.executable, "-m", "stepscope", "watch", "--out=runs")
PROGRAM_LINE = ("PROGRAM", "SECONDS", "OUT")


def training(args: argparse.Namespace) -> int:
    """Runs a program that trains plainly and watched, by turns."""
    kinds = {
        "nothing": [sys.executable, *PROGRAM_LINE],
        "watch": [*WATCH, "--", sys.executable, *PROGRAM_LINE],
        "watch, by turns": [*WATCH, "--", sys.executable, *PROGRAM_LINE, "by turns"],
    }
    found: dict[str, list[Cost]] = {name: [] for name in kinds}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(TRAINING, encoding="utf-8")
        for _ in range(args.rounds):
            for name, costs in found.items():
                costs.append(measure(name, kinds[name], program, args.seconds))
                print(row(costs[-1]), flush=True)
    if args.json is not None:
        document = {name: [asdict(cost) for cost in costs] for name, costs in found.items()}
        args.json.write_text(json.dumps(document, indent=1) + "\n")
    return judged(found, start_and_end_s())


def start_and_end_s() -> float:
    """Processor time of a watch of a command that does nothing, the least of five."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([*WATCH, "--", "true"], cwd=folder, capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def judged(found: dict[str, list[Cost]], fixed_s: float) -> int:
    """Prints what watching costs a program that trains; the exit status says whether a limit is kept."""
    plain, watch, turns = found.values()
    pairs = [pair for cost in turns for pair in zip(cost.plain_us, cost.timed_us, strict=True)]
    low, hooks_us, high = quantiles([timed - alone for alone, timed in pairs], n=4)
    step_us = median(alone for alone, _ in pairs)
    # The standard error of a median, from the middle half of the values.
    error_us = 0.93 * (high - low) / len(pairs) ** 0.5
    own_end = min(cost.added_cpu_s for cost in plain)
    outside_s, wall_s = min((cost.added_cpu_s - own_end, cost.wall_s) for cost in watch)
    rate = max(outside_s - fixed_s, 0.0) / wall_s
    share, error = hooks_us / step_us + rate + fixed_s / RUN_S, error_us / step_us
    memory = min(cost.peak_bytes for cost in watch) - min(cost.peak_bytes for cost in plain)
    print(
        f"a step of {step_us / 1e3:.2f} ms: timing adds {hooks_us:.1f} us (+- {error_us:.1f}, {len(pairs)} pairs of blocks), "
        f"{hooks_us / step_us:.3%}\n"
        f"the watcher: {fixed_s:.2f} s for start and end, then {rate:.3%} of a core; all in a run of {wall_s:.0f} s "
        f"{outside_s / wall_s:.3%}\n"
        f"stepscope watch of a program that trains for ten minutes: {share:.3%} (+- {error:.3%}) of its time, {memory / 1e6:.1f} MB"
    )
    if not all(cost.keeps_output for costs in found.values() for cost in costs):
        return 1
    if memory >= MOST_BYTES or share - 2 * error >= MOST_FRAC:
        return 1
    return 0 if share + 2 * error < MOST_FRAC else 2


def lines(peers: Path | None) -> dict[str, list[str]]:
    """Command lines that run ``PROGRAM SECONDS OUT`` under each watcher; those words are put in later."""
    found = {
        "nothing": [sys.executable, *PROGRAM_LINE],
        "stepscope watch": [*WATCH, "--", sys.executable, *PROGRAM_LINE],
    }
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
        peak_bytes=most,
        plain_us=tuple(own.get("plain_us", ())),
        timed_us=tuple(own.get("timed_us", ())),
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
