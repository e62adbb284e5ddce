"""Who names the late rank? stepscope and HolisticTraceAnalysis on the same jobs, whose truth is known.

usage: python -m benchmarks.late_rank [--peer .venv-bench/bin/python] [--traces DIR]

The generated jobs are those of ``tests/job/made.py``. HolisticTraceAnalysis knows NCCL's kernels by names before NCCL
2.19 only, so it gets the same jobs under those names beside. ``--traces`` names a folder with the
public sets of several ranks. Prints one line a set and program.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.job.made import Made, write

from stepscope import analyze

JOBS = {
    "rank 5 computes longer": (5, Made(8, per_host=8, slow=(5,), kind="compute")),
    "rank 5 waits for data": (5, Made(8, per_host=8, slow=(5,), kind="input")),
    "four hosts, clocks up to 50 ms apart": (5, Made(8, per_host=2, slow=(5,), kind="compute")),
    "nobody is slow": (None, Made(8, per_host=8)),
    "pairs of tensor parallelism, rank 3 slow": (
        3,
        Made(8, per_host=4, slow=(3,), kind="compute", pairs=True),
    ),
    "rank 7's file is missing, rank 1 slow": (1, Made(8, per_host=8, slow=(1,), kind="host")),
}
PUBLIC = ("rtx4090-llama-tp2", "rtx4090-allreduce-2")
PEER = """
import sys, warnings
warnings.filterwarnings("ignore")
from hta.trace_analysis import TraceAnalysis
try:
    print("ranks", TraceAnalysis(trace_dir=sys.argv[1]).get_potential_stragglers(num_candidates=1))
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[0] if str(error) else "")
"""


def ours(folder: Path) -> str:
    """What stepscope says, in short."""
    job = analyze([folder], jobs=1).job
    if job is None or job.straggler is None:
        why = job.cannot_tell[0] if job is not None and job.cannot_tell else ""
        return f"nobody. {why}"
    late = job.straggler
    uncertain = f", clocks uncertain by {job.clock_uncertainty_ms:.3f} ms"
    if not late.is_named:
        return (
            f"nobody stands out (most often rank {late.rank}, {late.times} collectives){uncertain}"
        )
    return f"rank {late.rank}, cause {late.cause}, {late.loss_ms:.1f} ms lost{uncertain}"


def peers(python: Path, folder: Path) -> str:
    """What the peer says: the last line that it prints."""
    done = subprocess.run(
        [str(python), "-c", PEER, str(folder)], capture_output=True, text=True, check=False
    )
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["nothing"]
    return lines[-1][:110]


def renamed(folder: Path, target: Path) -> Path:
    """The same traces with the kernels' names of older NCCL."""
    target.mkdir()
    for trace in folder.glob("*.json"):
        (target / trace.name).write_text(trace.read_text().replace("ncclDevKernel_", "ncclKernel_"))
    return target


def main() -> None:
    """Prints what each says about each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--traces", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        for number, (name, (truth, job)) in enumerate(JOBS.items()):
            folder = write(job, Path(made, str(number)))
            if "missing" in name:
                (folder / "rank7.pt.trace.json").unlink()
            print(f"{name} (truth: {truth})\n  stepscope: {ours(folder)}", flush=True)
            if args.peer:
                print("  HTA:", peers(args.peer, folder))
                old = renamed(folder, Path(made, f"{number}-old"))
                print("  HTA, older names:", peers(args.peer, old), flush=True)
        for name in PUBLIC if args.traces else ():
            print(f"{name}\n  stepscope: {ours(args.traces / name)}")
            if args.peer:
                print("  HTA:", peers(args.peer, args.traces / name), flush=True)


if __name__ == "__main__":
    sys.exit(main())
